// run: fold_scales
// Channels that are convolved apart, and a scale without a shift.
func.func @main(%x: tensor<1x3x3x2xf32>) -> tensor<1x2x2x2xf32> {
  %w = stablehlo.constant dense<[[[[1.0, 2.0]], [[3.0, 4.0]]], [[[5.0, 6.0]], [[7.0, 8.0]]]]> : tensor<2x2x1x2xf32>
  %scale = stablehlo.constant dense<[0.5, 2.0]> : tensor<2xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x3x3x2xf32>, tensor<2x2x1x2xf32>) -> tensor<1x2x2x2xf32>
  %1 = stablehlo.broadcast_in_dim %scale, dims = [3] : (tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %2 = stablehlo.multiply %1, %0 : tensor<1x2x2x2xf32>
  return %2 : tensor<1x2x2x2xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<1x3x3x2xf32>) -> tensor<1x2x2x2xf32> {
    %0 = stablehlo.constant dense<[[[[5.000000e-01, 4.000000e+00]], [[1.500000e+00, 8.000000e+00]]], [[[2.500000e+00, 1.200000e+01]], [[3.500000e+00, 1.600000e+01]]]]> : tensor<2x2x1x2xf32>
    %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x3x3x2xf32>, tensor<2x2x1x2xf32>) -> tensor<1x2x2x2xf32>
    return %1 : tensor<1x2x2x2xf32>
  }
}
