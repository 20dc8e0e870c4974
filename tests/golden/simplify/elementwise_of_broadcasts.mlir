// run: simplify, dce
// Computed once, then broadcast.
func.func @main(%a: tensor<f32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %one = stablehlo.constant dense<1.0> : tensor<8x4xf32>
  %1 = stablehlo.subtract %one, %0 : tensor<8x4xf32>
  %2 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %3 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %4 = stablehlo.multiply %2, %3 : tensor<8x4xf32>
  return %1, %4 : tensor<8x4xf32>, tensor<8x4xf32>
}
// ---- expect
module {
  func.func @main(%a: tensor<f32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
    %0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1 = stablehlo.subtract %0, %a : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %3 = stablehlo.multiply %b, %c : tensor<4xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
    return %2, %4 : tensor<8x4xf32>, tensor<8x4xf32>
  }
}
