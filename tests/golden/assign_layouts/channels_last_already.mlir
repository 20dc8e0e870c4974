// run: assign_layouts
// Nothing is left to choose.
func.func @main(%x: tensor<2x9x9x32xf32>, %w: tensor<32x3x3x32xf32>) -> tensor<2x4x4x32xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f], window = {stride = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x9x32xf32>, tensor<32x3x3x32xf32>) -> tensor<2x4x4x32xf32>
  return %0 : tensor<2x4x4x32xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<2x9x9x32xf32>, %w: tensor<32x3x3x32xf32>) -> tensor<2x4x4x32xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f], window = {stride = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x9x32xf32>, tensor<32x3x3x32xf32>) -> tensor<2x4x4x32xf32>
    return %0 : tensor<2x4x4x32xf32>
  }
}
