// run: plan for x86-64-v3
// Every branch writes the one result.
func.func @main(%x: tensor<6x6xf32>, %k: tensor<i32>) -> tensor<6x6xf32> {
  %0 = "stablehlo.case"(%k) ({
    %a = stablehlo.sine %x : tensor<6x6xf32>
    stablehlo.return %a : tensor<6x6xf32>
  }, {
    %b = stablehlo.cholesky %x, lower = true : tensor<6x6xf32>
    stablehlo.return %b : tensor<6x6xf32>
  }, {
    stablehlo.return %x : tensor<6x6xf32>
  }) : (tensor<i32>) -> tensor<6x6xf32>
  %1 = stablehlo.cholesky %0, lower = true : tensor<6x6xf32>
  return %1 : tensor<6x6xf32>
}
// ---- expect
// after plan for x86-64-v3: main
plan main {
  arena 192 bytes (lower bound 192), scratch 192 bytes a thread
  buffer x: tensor<6x6xf32> input[0] 144 bytes, steps start to end
  buffer k: tensor<i32> input[1] 4 bytes, steps start to end
  buffer v: tensor<6x6xf32> arena+0 144 bytes, steps 1 to 7
  buffer v.1: tensor<6x6xf32> output[0] 144 bytes, steps 7 to end
  step 0: jump to 3 unless k is 0 (barrier)
  step 1: f32_6x6_sine (kernel 0, call 0, tasks 1, barrier) reads x writes v
  step 2: jump to 7 (barrier)
  step 3: jump to 6 unless k is 1 (barrier)
  step 4: f32_cholesky_6x6 (kernel 1, call 1, tasks 1, barrier) reads x writes v
  step 5: jump to 7 (barrier)
  step 6: copy (kernel 2, tasks 1, barrier) reads x writes v
  step 7: f32_cholesky_6x6 (kernel 1, call 2, tasks 1, barrier) reads v writes v.1
}
