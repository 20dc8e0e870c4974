// run: assign_layouts
// Transposes would take longer than they save.
func.func @main(%x: tensor<1x16x4x4xf32>, %w: tensor<16x16x3x3xf32>) -> tensor<1x16x2x2xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x4x4xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x2x2xf32>
  return %0 : tensor<1x16x2x2xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<1x16x4x4xf32>, %w: tensor<16x16x3x3xf32>) -> tensor<1x16x2x2xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x4x4xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x2x2xf32>
    return %0 : tensor<1x16x2x2xf32>
  }
}
