// run: assign_layouts
// A group of one channel fills no vector: all stays as written.
func.func @main(%x: tensor<2x16x16x16xf32>, %w: tensor<16x1x3x3xf32>) -> tensor<2x16x16x16xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<2x16x16x16xf32>, tensor<16x1x3x3xf32>) -> tensor<2x16x16x16xf32>
  return %0 : tensor<2x16x16x16xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<2x16x16x16xf32>, %w: tensor<16x1x3x3xf32>) -> tensor<2x16x16x16xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<2x16x16x16xf32>, tensor<16x1x3x3xf32>) -> tensor<2x16x16x16xf32>
    return %0 : tensor<2x16x16x16xf32>
  }
}
