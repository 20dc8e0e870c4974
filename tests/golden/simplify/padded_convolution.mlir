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
    %0 = stablehlo.reshape %w : (tensor<2x2x2x4xf32>) -> tensor<1x2x2x2x4xf32>
    %1 = stablehlo.reverse %0, dims = [1] : tensor<1x2x2x2x4xf32>
    %2 = stablehlo.transpose %1, dims = [0, 2, 3, 4, 1] : (tensor<1x2x2x2x4xf32>) -> tensor<1x2x2x4x2xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x2x2x4x2xf32>) -> tensor<1x2x2x8xf32>
    %4 = stablehlo.convolution(%x, %3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x3x2xf32>, tensor<1x2x2x8xf32>) -> tensor<1x3x4x8xf32>
    %5 = stablehlo.reshape %4 : (tensor<1x3x4x8xf32>) -> tensor<1x3x4x4x2xf32>
    %6 = stablehlo.transpose %5, dims = [0, 1, 4, 2, 3] : (tensor<1x3x4x4x2xf32>) -> tensor<1x3x2x4x4xf32>
    %7 = stablehlo.reshape %6 : (tensor<1x3x2x4x4xf32>) -> tensor<1x6x4x4xf32>
    return %7 : tensor<1x6x4x4xf32>
  }
}
