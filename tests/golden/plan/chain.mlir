// run: plan for x86-64-v3
// What is made takes the place of what it is made of; a constant is part of the bundle.
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %cs = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<8xf32>) -> tensor<8x8xf32>
  %0 = stablehlo.cholesky %x, lower = true : tensor<8x8xf32>
  %1 = stablehlo.add %0, %cs : tensor<8x8xf32>
  %2 = stablehlo.cholesky %1, lower = true : tensor<8x8xf32>
  %3 = stablehlo.add %2, %cs : tensor<8x8xf32>
  %4 = stablehlo.cholesky %3, lower = true : tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}
// ---- expect
// after plan for x86-64-v3: main
plan main {
  arena 256 bytes (lower bound 256), scratch 256 bytes a thread
  buffer x: tensor<8x8xf32> input[0] 256 bytes, steps start to end
  buffer cs: tensor<8x8xf32> rodata+0 256 bytes, steps start to end
  buffer v: tensor<8x8xf32> arena+0 256 bytes, steps 0 to 1
  buffer v.1: tensor<8x8xf32> arena+0 256 bytes, steps 1 to 2, in place of v
  buffer v.2: tensor<8x8xf32> arena+0 256 bytes, steps 2 to 3, in place of v.1
  buffer v.3: tensor<8x8xf32> arena+0 256 bytes, steps 3 to 4, in place of v.2
  buffer v.4: tensor<8x8xf32> output[0] 256 bytes, steps 4 to end
  step 0: f32_cholesky_8x8 (kernel 0, call 0, tasks 1) reads x writes v
  step 1: f32_8x8_add (kernel 1, call 1, tasks 1, barrier) reads v, cs writes v.1
  step 2: f32_cholesky_8x8 (kernel 0, call 2, tasks 1, barrier) reads v.1 writes v.2
  step 3: f32_8x8_add (kernel 1, call 3, tasks 1, barrier) reads v.2, cs writes v.3
  step 4: f32_cholesky_8x8 (kernel 0, call 4, tasks 1, barrier) reads v.3 writes v.4
}
