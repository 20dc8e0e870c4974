// run: simplify, dce
// The pad's edges are the convolution's padding, its holes are base dilation.
func.func @main(%x: tensor<1x3x3x2xf32>, %w: tensor<2x2x2x4xf32>) -> tensor<1x6x4x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [0, 1, 1, 0], high = [0, 1, 1, 0], interior = [0, 1, 0, 0] : (tensor<1x3x3x2xf32>, tensor<f32>) -> tensor<1x7x5x2xf32>
  %1 = stablehlo.convolution(%0, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x7x5x2xf32>, tensor<2x2x2x4xf32>) -> tensor<1x6x4x4xf32>
  return %1 : tensor<1x6x4x4xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<1x3x3x2xf32>, %w: tensor<2x2x2x4xf32>) -> tensor<1x6x4x4xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [2, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x3x2xf32>, tensor<2x2x2x4xf32>) -> tensor<1x6x4x4xf32>
    return %0 : tensor<1x6x4x4xf32>
  }
}
