// run: simplify, dce
// JAX's weight gradient: a dot_general and a transpose are one dot_general with swapped operands.
func.func @main(%dy: tensor<8x3xf32>, %x: tensor<8x5xf32>) -> tensor<5x3xf32> {
  %0 = stablehlo.dot_general %dy, %x, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x3xf32>, tensor<8x5xf32>) -> tensor<3x5xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<3x5xf32>) -> tensor<5x3xf32>
  return %1 : tensor<5x3xf32>
}
// ---- expect
module {
  func.func @main(%dy: tensor<8x3xf32>, %x: tensor<8x5xf32>) -> tensor<5x3xf32> {
    %0 = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x5xf32>, tensor<8x3xf32>) -> tensor<5x3xf32>
    return %0 : tensor<5x3xf32>
  }
}
