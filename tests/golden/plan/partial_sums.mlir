// run: plan for x86-64-v3
// Partial sums live between the two steps of one kernel.
func.func @main(%x: tensor<524288xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<524288xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// ---- expect
// after plan for x86-64-v3: main
plan main {
  arena 64 bytes (lower bound 64), scratch 0 bytes a thread
  buffer x: tensor<524288xf32> input[0] 2097152 bytes, steps start to end
  buffer partial: tensor<16xf32> arena+0 64 bytes, steps 0 to 1
  buffer v: tensor<f32> output[0] 4 bytes, steps 1 to end
  step 0: f32_rows_1x524288_add (kernel 0, call 0, tasks 16) reads x writes partial
  step 1: f32_rows_1x524288_add.1 (kernel 1, call 0, tasks 1, barrier) reads partial writes v
}
