// run: assign_layouts
// Both convolutions and their gradients lie channels last. The weight's layout is as written outside; its gradient is
// transposed where the weight is updated. The first convolution's input has too few channels to lie so.
func.func @main(%x: tensor<2x3x16x16xf32>, %w1: tensor<32x3x3x3xf32>, %w2: tensor<32x32x3x3xf32>, %dy: tensor<2x32x16x16xf32>)
    -> (tensor<2x32x16x16xf32>, tensor<32x3x3x3xf32>, tensor<32x32x3x3xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<2x32x16x16xf32>
  %0 = stablehlo.convolution(%x, %w1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x16x16xf32>, tensor<32x3x3x3xf32>) -> tensor<2x32x16x16xf32>
  %1 = stablehlo.maximum %0, %zero : tensor<2x32x16x16xf32>
  %2 = stablehlo.convolution(%1, %w2) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x32x16x16xf32>, tensor<32x32x3x3xf32>) -> tensor<2x32x16x16xf32>
  %3 = stablehlo.convolution(%dy, %w2) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]], reverse = [true, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x32x16x16xf32>, tensor<32x32x3x3xf32>) -> tensor<2x32x16x16xf32>
  %4 = stablehlo.compare GT, %0, %zero : (tensor<2x32x16x16xf32>, tensor<2x32x16x16xf32>) -> tensor<2x32x16x16xi1>
  %5 = stablehlo.select %4, %3, %zero : tensor<2x32x16x16xi1>, tensor<2x32x16x16xf32>
  %6 = stablehlo.convolution(%1, %dy) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x32x16x16xf32>, tensor<2x32x16x16xf32>) -> tensor<32x32x3x3xf32>
  %7 = stablehlo.convolution(%x, %5) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x16x16xf32>, tensor<2x32x16x16xf32>) -> tensor<32x3x3x3xf32>
  %8 = stablehlo.subtract %w1, %7 : tensor<32x3x3x3xf32>
  %9 = stablehlo.subtract %w2, %6 : tensor<32x32x3x3xf32>
  return %2, %8, %9 : tensor<2x32x16x16xf32>, tensor<32x3x3x3xf32>, tensor<32x32x3x3xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<2x3x16x16xf32>, %w1: tensor<32x3x3x3xf32>, %w2: tensor<32x32x3x3xf32>, %dy: tensor<2x32x16x16xf32>) -> (tensor<2x32x16x16xf32>, tensor<32x3x3x3xf32>, tensor<32x32x3x3xf32>) {
    %0 = stablehlo.transpose %x, dims = [0, 2, 3, 1] {ingot.layout_copy} : (tensor<2x3x16x16xf32>) -> tensor<2x16x16x3xf32>
    %1 = stablehlo.transpose %w1, dims = [0, 2, 3, 1] {ingot.layout_copy} : (tensor<32x3x3x3xf32>) -> tensor<32x3x3x3xf32>
    %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x16x3xf32>, tensor<32x3x3x3xf32>) -> tensor<2x16x16x32xf32>
    %3 = stablehlo.constant dense<0.000000e+00> : tensor<2x16x16x32xf32>
    %4 = stablehlo.maximum %2, %3 : tensor<2x16x16x32xf32>
    %5 = stablehlo.transpose %w2, dims = [0, 2, 3, 1] {ingot.layout_copy} : (tensor<32x32x3x3xf32>) -> tensor<32x3x3x32xf32>
    %6 = stablehlo.convolution(%4, %5) dim_numbers = [b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x16x32xf32>, tensor<32x3x3x32xf32>) -> tensor<2x16x16x32xf32>
    %7 = stablehlo.transpose %dy, dims = [0, 2, 3, 1] {ingot.layout_copy} : (tensor<2x32x16x16xf32>) -> tensor<2x16x16x32xf32>
    %8 = stablehlo.convolution(%7, %5) dim_numbers = [b, 0, 1, f]x[i, 0, 1, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [true, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x16x32xf32>, tensor<32x3x3x32xf32>) -> tensor<2x16x16x32xf32>
    %9 = stablehlo.compare GT, %2, %3 : (tensor<2x16x16x32xf32>, tensor<2x16x16x32xf32>) -> tensor<2x16x16x32xi1>
    %10 = stablehlo.select %9, %8, %3 : tensor<2x16x16x32xi1>, tensor<2x16x16x32xf32>
    %11 = stablehlo.convolution(%4, %7) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[f, 0, 1, b], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x16x32xf32>, tensor<2x16x16x32xf32>) -> tensor<32x3x3x32xf32>
    %12 = stablehlo.convolution(%0, %10) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[f, 0, 1, b], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x16x3xf32>, tensor<2x16x16x32xf32>) -> tensor<32x3x3x3xf32>
    %13 = stablehlo.transpose %12, dims = [0, 3, 1, 2] {ingot.layout_copy} : (tensor<32x3x3x3xf32>) -> tensor<32x3x3x3xf32>
    %14 = stablehlo.subtract %w1, %13 : tensor<32x3x3x3xf32>
    %15 = stablehlo.transpose %11, dims = [0, 3, 1, 2] {ingot.layout_copy} : (tensor<32x3x3x32xf32>) -> tensor<32x32x3x3xf32>
    %16 = stablehlo.subtract %w2, %15 : tensor<32x32x3x3xf32>
    %17 = stablehlo.transpose %6, dims = [0, 3, 1, 2] {ingot.layout_copy} : (tensor<2x16x16x32xf32>) -> tensor<2x32x16x16xf32>
    return %17, %14, %16 : tensor<2x32x16x16xf32>, tensor<32x3x3x3xf32>, tensor<32x32x3x3xf32>
  }
}
