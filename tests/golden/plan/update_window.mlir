// run: plan for x86-64-v3
// A kernel that updates a window writes it where its operand lies.
func.func @main(%cache: tensor<8x4xf32> {ingot.state = "cache"}, %x: tensor<1x4xf32>, %at: tensor<i32>) -> (tensor<8x4xf32> {ingot.state = "cache"}, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %nothing = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dynamic_update_slice %cache, %x, %at, %zero : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  %1 = stablehlo.reduce(%0 init: %nothing) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8xf32>
}
// ---- expect
// after plan for x86-64-v3: main
plan main {
  arena 0 bytes (lower bound 0), scratch 0 bytes a thread
  buffer cache: tensor<8x4xf32> state[0]+0 128 bytes, steps start to end
  buffer x: tensor<1x4xf32> input[0] 16 bytes, steps start to end
  buffer at: tensor<i32> input[1] 4 bytes, steps start to end
  buffer v: tensor<8xf32> output[0] 32 bytes, steps 1 to end
  step 0: f32_8x4_dynamic_update_slice (kernel 0, call 0, tasks 1) reads cache, x, at writes cache
  step 1: f32_8_add_add_add (kernel 1, call 1, tasks 1, barrier) reads cache writes v
}
