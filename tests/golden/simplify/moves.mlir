// run: simplify, dce
// A bias as JAX prints it; moves of moves; cuts of joins.
func.func @main(%b: tensor<4xf32>, %x: tensor<2x3x4xf32>, %y: tensor<2x3xf32>, %z: tensor<2x5xf32>) -> (tensor<2x4xf32>, tensor<4x3x2xf32>, tensor<24xf32>, tensor<2x2xf32>, tensor<2x3xf32>) {
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<2x4xf32>
  %2 = stablehlo.transpose %x, dims = [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %3 = stablehlo.transpose %2, dims = [2, 0, 1] : (tensor<3x2x4xf32>) -> tensor<4x3x2xf32>
  %4 = stablehlo.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %5 = stablehlo.reshape %4 : (tensor<6x4xf32>) -> tensor<24xf32>
  %6 = stablehlo.concatenate %y, %z, dim = 1 : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  %7 = stablehlo.slice %6 [0:2, 4:6] : (tensor<2x8xf32>) -> tensor<2x2xf32>
  %8 = stablehlo.slice %6 [0:2, 0:3] : (tensor<2x8xf32>) -> tensor<2x3xf32>
  return %1, %3, %5, %7, %8 : tensor<2x4xf32>, tensor<4x3x2xf32>, tensor<24xf32>, tensor<2x2xf32>, tensor<2x3xf32>
}
// ---- expect
module {
  func.func @main(%b: tensor<4xf32>, %x: tensor<2x3x4xf32>, %y: tensor<2x3xf32>, %z: tensor<2x5xf32>) -> (tensor<2x4xf32>, tensor<4x3x2xf32>, tensor<24xf32>, tensor<2x2xf32>, tensor<2x3xf32>) {
    %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.transpose %x, dims = [2, 1, 0] : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
    %2 = stablehlo.reshape %x : (tensor<2x3x4xf32>) -> tensor<24xf32>
    %3 = stablehlo.slice %z [0:2, 1:3] : (tensor<2x5xf32>) -> tensor<2x2xf32>
    return %0, %1, %2, %3, %y : tensor<2x4xf32>, tensor<4x3x2xf32>, tensor<24xf32>, tensor<2x2xf32>, tensor<2x3xf32>
  }
}
