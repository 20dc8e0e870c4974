// run: plan for x86-64-v3
// A weight's update is written where the weight lies, after its last reader.
func.func @main(%w: tensor<64xf32> {ingot.state = "w"}, %x: tensor<64xf32>) -> (tensor<64xf32> {ingot.state = "w"}, tensor<64xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.multiply %w, %x : tensor<64xf32>
  %s = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<64xf32>
  %n = stablehlo.subtract %w, %b : tensor<64xf32>
  %o = stablehlo.reverse %w, dims = [0] : tensor<64xf32>
  return %n, %o, %s : tensor<64xf32>, tensor<64xf32>, tensor<f32>
}
// ---- expect
// after plan for x86-64-v3: main
plan main {
  arena 0 bytes (lower bound 0), scratch 0 bytes a thread
  buffer w: tensor<64xf32> state[0]+0 256 bytes, steps start to 1
  buffer x: tensor<64xf32> input[0] 256 bytes, steps start to end
  buffer o: tensor<64xf32> output[0] 256 bytes, steps 0 to end
  buffer w.1: tensor<64xf32> state[0]+0 256 bytes, steps 1 to end, in place of w
  buffer s: tensor<f32> output[1] 4 bytes, steps 1 to end
  step 0: f32_64_reverse (kernel 0, call 1, tasks 1) reads w writes o
  step 1: f32_rows_1x64_multiply_add_subtract (kernel 1, call 0, tasks 1, barrier) reads w, x writes w.1, s
}
