// run: simplify, dce
// Base dilation becomes one convolution for each count of kernel elements that a phase of the result meets; not of
// channels that are convolved apart, whose kernels skip the gaps.
func.func @stride_two(%x: tensor<2x3x4x5xf32>, %w: tensor<3x6x3x3xf32>) -> tensor<2x6x8x10xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x4x5xf32>, tensor<3x6x3x3xf32>) -> tensor<2x6x8x10xf32>
  return %0 : tensor<2x6x8x10xf32>
}
func.func @reversed_in_groups(%x: tensor<1x5x4xf32>, %w: tensor<2x4x6xf32>) -> tensor<1x14x6xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[i, 0, o]->[b, 0, f], window = {pad = [[1, 3]], lhs_dilate = [3], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x5x4xf32>, tensor<2x4x6xf32>) -> tensor<1x14x6xf32>
  return %0 : tensor<1x14x6xf32>
}
func.func @few_kernel_elements(%x: tensor<1x2x3xf32>, %w: tensor<2x2x4xf32>) -> tensor<1x4x12xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[i, 0, o]->[b, f, 0], window = {pad = [[-1, 5]], lhs_dilate = [4]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x3xf32>, tensor<2x2x4xf32>) -> tensor<1x4x12xf32>
  return %0 : tensor<1x4x12xf32>
}
func.func @cropped_in_batch_groups(%x: tensor<4x2x5xf32>, %w: tensor<2x5x6xf32>) -> tensor<2x6x3xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[i, 0, o]->[b, f, 0], window = {pad = [[-1, -1]], lhs_dilate = [2]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x2x5xf32>, tensor<2x5x6xf32>) -> tensor<2x6x3xf32>
  return %0 : tensor<2x6x3xf32>
}
func.func @one_kernel_element(%x: tensor<1x2x3x3xf32>, %w: tensor<2x4x1x1xf32>) -> tensor<1x4x6x5xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {pad = [[0, 1], [1, -1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x3x3xf32>, tensor<2x4x1x1xf32>) -> tensor<1x4x6x5xf32>
  return %0 : tensor<1x4x6x5xf32>
}
func.func @channels_apart(%x: tensor<1x4x4x8xf32>, %w: tensor<3x3x1x8xf32>) -> tensor<1x8x8x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 2], [1, 2]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 8 : i64} : (tensor<1x4x4x8xf32>, tensor<3x3x1x8xf32>) -> tensor<1x8x8x8xf32>
  return %0 : tensor<1x8x8x8xf32>
}
// ---- expect
module {
  func.func @stride_two(%x: tensor<2x3x4x5xf32>, %w: tensor<3x6x3x3xf32>) -> tensor<2x6x8x10xf32> {
    %0 = stablehlo.slice %w [0:3, 0:6, 1:2, 1:2] : (tensor<3x6x3x3xf32>) -> tensor<3x6x1x1xf32>
    %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x4x5xf32>, tensor<3x6x1x1xf32>) -> tensor<2x6x4x5xf32>
    %2 = stablehlo.reshape %1 : (tensor<2x6x4x5xf32>) -> tensor<2x6x4x5x1xf32>
    %3 = stablehlo.slice %w [0:3, 0:6, 1:2, 0:3:2] : (tensor<3x6x3x3xf32>) -> tensor<3x6x1x2xf32>
    %4 = stablehlo.convolution(%x, %3) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [1, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x4x5xf32>, tensor<3x6x1x2xf32>) -> tensor<2x6x4x5xf32>
    %5 = stablehlo.reshape %4 : (tensor<2x6x4x5xf32>) -> tensor<2x6x4x5x1xf32>
    %6 = stablehlo.concatenate %5, %2, dim = 4 : (tensor<2x6x4x5x1xf32>, tensor<2x6x4x5x1xf32>) -> tensor<2x6x4x5x2xf32>
    %7 = stablehlo.reshape %6 : (tensor<2x6x4x5x2xf32>) -> tensor<2x6x4x1x10xf32>
    %8 = stablehlo.slice %w [0:3, 0:6, 0:3:2, 1:2] : (tensor<3x6x3x3xf32>) -> tensor<3x6x2x1xf32>
    %9 = stablehlo.convolution(%x, %8) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x4x5xf32>, tensor<3x6x2x1xf32>) -> tensor<2x6x4x5xf32>
    %10 = stablehlo.reshape %9 : (tensor<2x6x4x5xf32>) -> tensor<2x6x4x5x1xf32>
    %11 = stablehlo.slice %w [0:3, 0:6, 0:3:2, 0:3:2] : (tensor<3x6x3x3xf32>) -> tensor<3x6x2x2xf32>
    %12 = stablehlo.convolution(%x, %11) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 0], [1, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x4x5xf32>, tensor<3x6x2x2xf32>) -> tensor<2x6x4x5xf32>
    %13 = stablehlo.reshape %12 : (tensor<2x6x4x5xf32>) -> tensor<2x6x4x5x1xf32>
    %14 = stablehlo.concatenate %13, %10, dim = 4 : (tensor<2x6x4x5x1xf32>, tensor<2x6x4x5x1xf32>) -> tensor<2x6x4x5x2xf32>
    %15 = stablehlo.reshape %14 : (tensor<2x6x4x5x2xf32>) -> tensor<2x6x4x1x10xf32>
    %16 = stablehlo.concatenate %15, %7, dim = 3 : (tensor<2x6x4x1x10xf32>, tensor<2x6x4x1x10xf32>) -> tensor<2x6x4x2x10xf32>
    %17 = stablehlo.reshape %16 : (tensor<2x6x4x2x10xf32>) -> tensor<2x6x8x10xf32>
    return %17 : tensor<2x6x8x10xf32>
  }
  func.func @reversed_in_groups(%x: tensor<1x5x4xf32>, %w: tensor<2x4x6xf32>) -> tensor<1x14x6xf32> {
    %0 = stablehlo.slice %w [0:2, 1:2:3, 0:6] : (tensor<2x4x6xf32>) -> tensor<2x1x6xf32>
    %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, 0, f]x[i, 0, o]->[b, 0, f], window = {stride = [1], pad = [[-1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x5x4xf32>, tensor<2x1x6xf32>) -> tensor<1x5x6xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x5x6xf32>) -> tensor<1x5x1x6xf32>
    %3 = stablehlo.slice %w [0:2, 2:3:3, 0:6] : (tensor<2x4x6xf32>) -> tensor<2x1x6xf32>
    %4 = stablehlo.convolution(%x, %3) dim_numbers = [b, 0, f]x[i, 0, o]->[b, 0, f], window = {stride = [1], pad = [[0, 0]], lhs_dilate = [1], rhs_dilate = [1], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x5x4xf32>, tensor<2x1x6xf32>) -> tensor<1x5x6xf32>
    %5 = stablehlo.reshape %4 : (tensor<1x5x6xf32>) -> tensor<1x5x1x6xf32>
    %6 = stablehlo.slice %w [0:2, 0:4:3, 0:6] : (tensor<2x4x6xf32>) -> tensor<2x2x6xf32>
    %7 = stablehlo.convolution(%x, %6) dim_numbers = [b, 0, f]x[i, 0, o]->[b, 0, f], window = {stride = [1], pad = [[0, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x5x4xf32>, tensor<2x2x6xf32>) -> tensor<1x5x6xf32>
    %8 = stablehlo.reshape %7 : (tensor<1x5x6xf32>) -> tensor<1x5x1x6xf32>
    %9 = stablehlo.concatenate %5, %8, %2, dim = 2 : (tensor<1x5x1x6xf32>, tensor<1x5x1x6xf32>, tensor<1x5x1x6xf32>) -> tensor<1x5x3x6xf32>
    %10 = stablehlo.reshape %9 : (tensor<1x5x3x6xf32>) -> tensor<1x15x6xf32>
    %11 = stablehlo.slice %10 [0:1, 0:14, 0:6] : (tensor<1x15x6xf32>) -> tensor<1x14x6xf32>
    return %11 : tensor<1x14x6xf32>
  }
  func.func @few_kernel_elements(%x: tensor<1x2x3xf32>, %w: tensor<2x2x4xf32>) -> tensor<1x4x12xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<1x4x3x2xf32>
    %1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.pad %w, %1, low = [0, 0, 0], high = [0, 2, 0], interior = [0, 0, 0] : (tensor<2x2x4xf32>, tensor<f32>) -> tensor<2x4x4xf32>
    %3 = stablehlo.reshape %2 : (tensor<2x4x4xf32>) -> tensor<2x1x4x4xf32>
    %4 = stablehlo.reverse %3, dims = [2] : tensor<2x1x4x4xf32>
    %5 = stablehlo.slice %4 [0:2, 0:1, 2:4, 0:4] : (tensor<2x1x4x4xf32>) -> tensor<2x1x2x4xf32>
    %6 = stablehlo.transpose %5, dims = [0, 1, 3, 2] : (tensor<2x1x2x4xf32>) -> tensor<2x1x4x2xf32>
    %7 = stablehlo.reshape %6 : (tensor<2x1x4x2xf32>) -> tensor<2x1x8xf32>
    %8 = stablehlo.convolution(%x, %7) dim_numbers = [b, f, 0]x[i, 0, o]->[b, f, 0], window = {stride = [1], pad = [[-1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x3xf32>, tensor<2x1x8xf32>) -> tensor<1x8x3xf32>
    %9 = stablehlo.reshape %8 : (tensor<1x8x3xf32>) -> tensor<1x4x2x3xf32>
    %10 = stablehlo.transpose %9, dims = [0, 1, 3, 2] : (tensor<1x4x2x3xf32>) -> tensor<1x4x3x2xf32>
    %11 = stablehlo.concatenate %0, %10, dim = 3 : (tensor<1x4x3x2xf32>, tensor<1x4x3x2xf32>) -> tensor<1x4x3x4xf32>
    %12 = stablehlo.reshape %11 : (tensor<1x4x3x4xf32>) -> tensor<1x4x12xf32>
    return %12 : tensor<1x4x12xf32>
  }
  func.func @cropped_in_batch_groups(%x: tensor<4x2x5xf32>, %w: tensor<2x5x6xf32>) -> tensor<2x6x3xf32> {
    %0 = stablehlo.slice %w [0:2, 1:4:2, 0:6] : (tensor<2x5x6xf32>) -> tensor<2x2x6xf32>
    %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0]x[i, 0, o]->[b, f, 0], window = {stride = [1], pad = [[-1, -1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x2x5xf32>, tensor<2x2x6xf32>) -> tensor<2x6x2xf32>
    %2 = stablehlo.reshape %1 : (tensor<2x6x2xf32>) -> tensor<2x6x2x1xf32>
    %3 = stablehlo.slice %w [0:2, 0:5:2, 0:6] : (tensor<2x5x6xf32>) -> tensor<2x3x6xf32>
    %4 = stablehlo.convolution(%x, %3) dim_numbers = [b, f, 0]x[i, 0, o]->[b, f, 0], window = {stride = [1], pad = [[-1, 0]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x2x5xf32>, tensor<2x3x6xf32>) -> tensor<2x6x2xf32>
    %5 = stablehlo.reshape %4 : (tensor<2x6x2xf32>) -> tensor<2x6x2x1xf32>
    %6 = stablehlo.concatenate %2, %5, dim = 3 : (tensor<2x6x2x1xf32>, tensor<2x6x2x1xf32>) -> tensor<2x6x2x2xf32>
    %7 = stablehlo.reshape %6 : (tensor<2x6x2x2xf32>) -> tensor<2x6x4xf32>
    %8 = stablehlo.slice %7 [0:2, 0:6, 0:3] : (tensor<2x6x4xf32>) -> tensor<2x6x3xf32>
    return %8 : tensor<2x6x3xf32>
  }
  func.func @one_kernel_element(%x: tensor<1x2x3x3xf32>, %w: tensor<2x4x1x1xf32>) -> tensor<1x4x6x5xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x3x3xf32>, tensor<2x4x1x1xf32>) -> tensor<1x4x3x3xf32>
    %1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.pad %0, %1, low = [0, 0, 0, 1], high = [0, 0, 0, -1], interior = [0, 0, 0, 1] : (tensor<1x4x3x3xf32>, tensor<f32>) -> tensor<1x4x3x5xf32>
    %3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.pad %2, %3, low = [0, 0, 0, 0], high = [0, 0, 1, 0], interior = [0, 0, 1, 0] : (tensor<1x4x3x5xf32>, tensor<f32>) -> tensor<1x4x6x5xf32>
    return %4 : tensor<1x4x6x5xf32>
  }
  func.func @channels_apart(%x: tensor<1x4x4x8xf32>, %w: tensor<3x3x1x8xf32>) -> tensor<1x8x8x8xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 2], [1, 2]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 8 : i64} : (tensor<1x4x4x8xf32>, tensor<3x3x1x8xf32>) -> tensor<1x8x8x8xf32>
    return %0 : tensor<1x8x8x8xf32>
  }
}
