// run: plan for x86-64-v3
// What a loop carries has one buffer, here that of the output.
func.func @main(%x: tensor<6x6xf32>, %n: tensor<i32>) -> tensor<6x6xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<6x6xf32>
   cond {
    %t = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    %l = stablehlo.cholesky %s, lower = true : tensor<6x6xf32>
    %k = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %k, %l : tensor<i32>, tensor<6x6xf32>
  }
  return %r#1 : tensor<6x6xf32>
}
// ---- expect
// after plan for x86-64-v3: main
plan main {
  arena 128 bytes (lower bound 128), scratch 192 bytes a thread
  buffer x: tensor<6x6xf32> input[0] 144 bytes, steps start to end
  buffer n: tensor<i32> input[1] 4 bytes, steps start to end
  buffer zero: tensor<i32> arena+0 4 bytes, steps 0 to 6
  buffer v: tensor<6x6xf32> output[0] 144 bytes, steps 1 to end
  buffer t: tensor<i1> arena+64 1 bytes, steps 2 to 3
  step 0: i32_1 (kernel 0, call 0, tasks 1) writes zero
  step 1: copy (kernel 1, tasks 1) reads x writes v
  step 2: i1_1_compare (kernel 2, call 1, tasks 1, barrier) reads zero, n writes t
  step 3: jump to 7 unless t is 1 (barrier)
  step 4: f32_cholesky_6x6 (kernel 3, call 2, tasks 1, barrier) reads v writes v
  step 5: i32_1_add (kernel 4, call 3, tasks 1) reads zero writes zero
  step 6: jump to 2 (barrier)
}
