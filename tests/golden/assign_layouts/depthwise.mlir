// run: assign_layouts
// Channels that are convolved apart fill vectors where they lie last.
func.func @main(%x: tensor<2x16x16x16xf32>, %w: tensor<16x1x3x3xf32>) -> tensor<2x16x16x16xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<2x16x16x16xf32>, tensor<16x1x3x3xf32>) -> tensor<2x16x16x16xf32>
  return %0 : tensor<2x16x16x16xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<2x16x16x16xf32>, %w: tensor<16x1x3x3xf32>) -> tensor<2x16x16x16xf32> {
    %0 = stablehlo.transpose %x, dims = [0, 2, 3, 1] {ingot.layout_copy} : (tensor<2x16x16x16xf32>) -> tensor<2x16x16x16xf32>
    %1 = stablehlo.convolution(%0, %w) dim_numbers = [b, 0, 1, f]x[o, i, 0, 1]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<2x16x16x16xf32>, tensor<16x1x3x3xf32>) -> tensor<2x16x16x16xf32>
    %2 = stablehlo.transpose %1, dims = [0, 3, 1, 2] {ingot.layout_copy} : (tensor<2x16x16x16xf32>) -> tensor<2x16x16x16xf32>
    return %2 : tensor<2x16x16x16xf32>
  }
}
