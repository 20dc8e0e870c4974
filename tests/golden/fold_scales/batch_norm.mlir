// run: fold_scales
// A bias and a normalisation by running moments: the channels of the kernel are scaled, and one constant is added.
func.func @main(%x: tensor<1x2x3x3xf32>) -> tensor<1x2x2x2xf32> {
  %w = stablehlo.constant dense<[[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]], [[[1.0, 1.0], [2.0, 2.0]], [[3.0, 3.0], [4.0, 4.0]]]]> : tensor<2x2x2x2xf32>
  %bias = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %mean = stablehlo.constant dense<[[[[3.0]], [[5.0]]]]> : tensor<1x2x1x1xf32>
  %scale = stablehlo.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %half = stablehlo.constant dense<0.5> : tensor<1x2x2x2xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x3x3xf32>, tensor<2x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %1 = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %2 = stablehlo.add %0, %1 : tensor<1x2x2x2xf32>
  %3 = stablehlo.broadcast_in_dim %mean, dims = [0, 1, 2, 3] : (tensor<1x2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %4 = stablehlo.subtract %2, %3 : tensor<1x2x2x2xf32>
  %5 = stablehlo.broadcast_in_dim %scale, dims = [1] : (tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %6 = stablehlo.divide %4, %5 : tensor<1x2x2x2xf32>
  %7 = stablehlo.subtract %half, %6 : tensor<1x2x2x2xf32>
  return %7 : tensor<1x2x2x2xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<1x2x3x3xf32>) -> tensor<1x2x2x2xf32> {
    %0 = stablehlo.constant dense<[[[[-5.000000e-01, -1.000000e+00], [-1.500000e+00, -2.000000e+00]], [[-2.500000e+00, -3.000000e+00], [-3.500000e+00, -4.000000e+00]]], [[[-2.500000e-01, -2.500000e-01], [-5.000000e-01, -5.000000e-01]], [[-7.500000e-01, -7.500000e-01], [-1.000000e+00, -1.000000e+00]]]]> : tensor<2x2x2x2xf32>
    %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x3x3xf32>, tensor<2x2x2x2xf32>) -> tensor<1x2x2x2xf32>
    %2 = stablehlo.constant dense<[1.500000e+00, 1.250000e+00]> : tensor<2xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<2xf32>) -> tensor<1x2x2x2xf32>
    %4 = stablehlo.add %1, %3 : tensor<1x2x2x2xf32>
    return %4 : tensor<1x2x2x2xf32>
  }
}
