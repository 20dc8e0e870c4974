// run: simplify, dce
// Renumbered dimensions instead of transposes; one whose free dimensions change their order stays.
func.func @main(%x: tensor<4x3x2xf32>, %y: tensor<5x4xf32>) -> (tensor<2x3x5xf32>, tensor<3x2x5xf32>) {
  %0 = stablehlo.transpose %x, dims = [2, 1, 0] : (tensor<4x3x2xf32>) -> tensor<2x3x4xf32>
  %1 = stablehlo.transpose %y, dims = [1, 0] : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [2] x [0] : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  %3 = stablehlo.transpose %x, dims = [1, 2, 0] : (tensor<4x3x2xf32>) -> tensor<3x2x4xf32>
  %4 = stablehlo.dot_general %3, %1, contracting_dims = [2] x [0] : (tensor<3x2x4xf32>, tensor<4x5xf32>) -> tensor<3x2x5xf32>
  return %2, %4 : tensor<2x3x5xf32>, tensor<3x2x5xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<4x3x2xf32>, %y: tensor<5x4xf32>) -> (tensor<2x3x5xf32>, tensor<3x2x5xf32>) {
    %0 = stablehlo.transpose %x, dims = [2, 1, 0] : (tensor<4x3x2xf32>) -> tensor<2x3x4xf32>
    %1 = stablehlo.dot_general %0, %y, contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<5x4xf32>) -> tensor<2x3x5xf32>
    %2 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [1] : (tensor<4x3x2xf32>, tensor<5x4xf32>) -> tensor<3x2x5xf32>
    return %1, %2 : tensor<2x3x5xf32>, tensor<3x2x5xf32>
  }
}
