// run: simplify, dce
// A data gradient as JAX prints it: reversed and transposed weights become window_reversal and dimension numbers.
func.func @main(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x4x2xf32>) -> tensor<1x4x5x5xf32> {
  %0 = stablehlo.reverse %w, dims = [0, 1] : tensor<3x3x4x2xf32>
  %1 = stablehlo.transpose %0, dims = [0, 1, 3, 2] : (tensor<3x3x4x2xf32>) -> tensor<3x3x2x4xf32>
  %2 = stablehlo.convolution(%x, %1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x5x5x4xf32>
  %3 = stablehlo.transpose %2, dims = [0, 3, 1, 2] : (tensor<1x5x5x4xf32>) -> tensor<1x4x5x5xf32>
  return %3 : tensor<1x4x5x5xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x4x2xf32>) -> tensor<1x4x5x5xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [true, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x5x2xf32>, tensor<3x3x4x2xf32>) -> tensor<1x4x5x5xf32>
    return %0 : tensor<1x4x5x5xf32>
  }
}
