// run: simplify, dce
// Base dilation becomes one convolution for each count of kernel elements that a phase of the result meets.
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
// ---- expect
module {
  func.func @stride_two(%x: tensor<2x3x4x5xf32>, %w: tensor<3x6x3x3xf32>) -> tensor<2x6x8x10xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.pad %w, %0, low = [0, 0, 0, 0], high = [0, 0, 1, 0], interior = [0, 0, 0, 0] : (tensor<3x6x3x3xf32>, tensor<f32>) -> tensor<3x6x4x3xf32>
    %2 = stablehlo.reshape %1 : (tensor<3x6x4x3xf32>) -> tensor<3x6x2x2x3xf32>
    %3 = stablehlo.reverse %2, dims = [3] : tensor<3x6x2x2x3xf32>
    %4 = stablehlo.slice %3 [0:3, 0:6, 0:1, 0:1, 0:3] : (tensor<3x6x2x2x3xf32>) -> tensor<3x6x1x1x3xf32>
    %5 = stablehlo.reshape %4 : (tensor<3x6x1x1x3xf32>) -> tensor<3x6x1x3xf32>
    %6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.pad %5, %6, low = [0, 0, 0, 0], high = [0, 0, 0, 1], interior = [0, 0, 0, 0] : (tensor<3x6x1x3xf32>, tensor<f32>) -> tensor<3x6x1x4xf32>
    %8 = stablehlo.reshape %7 : (tensor<3x6x1x4xf32>) -> tensor<3x6x1x2x2xf32>
    %9 = stablehlo.reverse %8, dims = [4] : tensor<3x6x1x2x2xf32>
    %10 = stablehlo.slice %9 [0:3, 0:6, 0:1, 0:1, 0:1] : (tensor<3x6x1x2x2xf32>) -> tensor<3x6x1x1x1xf32>
    %11 = stablehlo.reshape %10 : (tensor<3x6x1x1x1xf32>) -> tensor<3x6x1x1xf32>
    %12 = stablehlo.convolution(%x, %11) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x4x5xf32>, tensor<3x6x1x1xf32>) -> tensor<2x6x4x5xf32>
    %13 = stablehlo.reshape %12 : (tensor<2x6x4x5xf32>) -> tensor<2x6x4x5x1xf32>
    %14 = stablehlo.slice %9 [0:3, 0:6, 0:1, 0:2, 1:2] : (tensor<3x6x1x2x2xf32>) -> tensor<3x6x1x2x1xf32>
    %15 = stablehlo.reshape %14 : (tensor<3x6x1x2x1xf32>) -> tensor<3x6x1x2xf32>
    %16 = stablehlo.convolution(%x, %15) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [1, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x4x5xf32>, tensor<3x6x1x2xf32>) -> tensor<2x6x4x5xf32>
    %17 = stablehlo.reshape %16 : (tensor<2x6x4x5xf32>) -> tensor<2x6x4x5x1xf32>
    %18 = stablehlo.concatenate %17, %13, dim = 4 : (tensor<2x6x4x5x1xf32>, tensor<2x6x4x5x1xf32>) -> tensor<2x6x4x5x2xf32>
    %19 = stablehlo.reshape %18 : (tensor<2x6x4x5x2xf32>) -> tensor<2x6x4x1x10xf32>
    %20 = stablehlo.slice %3 [0:3, 0:6, 0:2, 1:2, 0:3] : (tensor<3x6x2x2x3xf32>) -> tensor<3x6x2x1x3xf32>
    %21 = stablehlo.reshape %20 : (tensor<3x6x2x1x3xf32>) -> tensor<3x6x2x3xf32>
    %22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.pad %21, %22, low = [0, 0, 0, 0], high = [0, 0, 0, 1], interior = [0, 0, 0, 0] : (tensor<3x6x2x3xf32>, tensor<f32>) -> tensor<3x6x2x4xf32>
    %24 = stablehlo.reshape %23 : (tensor<3x6x2x4xf32>) -> tensor<3x6x2x2x2xf32>
    %25 = stablehlo.reverse %24, dims = [4] : tensor<3x6x2x2x2xf32>
    %26 = stablehlo.slice %25 [0:3, 0:6, 0:2, 0:1, 0:1] : (tensor<3x6x2x2x2xf32>) -> tensor<3x6x2x1x1xf32>
    %27 = stablehlo.reshape %26 : (tensor<3x6x2x1x1xf32>) -> tensor<3x6x2x1xf32>
    %28 = stablehlo.convolution(%x, %27) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x4x5xf32>, tensor<3x6x2x1xf32>) -> tensor<2x6x4x5xf32>
    %29 = stablehlo.reshape %28 : (tensor<2x6x4x5xf32>) -> tensor<2x6x4x5x1xf32>
    %30 = stablehlo.slice %25 [0:3, 0:6, 0:2, 0:2, 1:2] : (tensor<3x6x2x2x2xf32>) -> tensor<3x6x2x2x1xf32>
    %31 = stablehlo.reshape %30 : (tensor<3x6x2x2x1xf32>) -> tensor<3x6x2x2xf32>
    %32 = stablehlo.convolution(%x, %31) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 0], [1, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x4x5xf32>, tensor<3x6x2x2xf32>) -> tensor<2x6x4x5xf32>
    %33 = stablehlo.reshape %32 : (tensor<2x6x4x5xf32>) -> tensor<2x6x4x5x1xf32>
    %34 = stablehlo.concatenate %33, %29, dim = 4 : (tensor<2x6x4x5x1xf32>, tensor<2x6x4x5x1xf32>) -> tensor<2x6x4x5x2xf32>
    %35 = stablehlo.reshape %34 : (tensor<2x6x4x5x2xf32>) -> tensor<2x6x4x1x10xf32>
    %36 = stablehlo.concatenate %35, %19, dim = 3 : (tensor<2x6x4x1x10xf32>, tensor<2x6x4x1x10xf32>) -> tensor<2x6x4x2x10xf32>
    %37 = stablehlo.reshape %36 : (tensor<2x6x4x2x10xf32>) -> tensor<2x6x8x10xf32>
    return %37 : tensor<2x6x8x10xf32>
  }
  func.func @reversed_in_groups(%x: tensor<1x5x4xf32>, %w: tensor<2x4x6xf32>) -> tensor<1x14x6xf32> {
    %0 = stablehlo.reverse %w, dims = [1] : tensor<2x4x6xf32>
    %1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.pad %0, %1, low = [0, 0, 0], high = [0, 2, 0], interior = [0, 0, 0] : (tensor<2x4x6xf32>, tensor<f32>) -> tensor<2x6x6xf32>
    %3 = stablehlo.reshape %2 : (tensor<2x6x6xf32>) -> tensor<2x2x3x6xf32>
    %4 = stablehlo.reverse %3, dims = [2] : tensor<2x2x3x6xf32>
    %5 = stablehlo.slice %4 [0:2, 0:1, 0:1, 0:6] : (tensor<2x2x3x6xf32>) -> tensor<2x1x1x6xf32>
    %6 = stablehlo.reshape %5 : (tensor<2x1x1x6xf32>) -> tensor<2x1x6xf32>
    %7 = stablehlo.convolution(%x, %6) dim_numbers = [b, 0, f]x[i, 0, o]->[b, 0, f], window = {stride = [1], pad = [[-1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x5x4xf32>, tensor<2x1x6xf32>) -> tensor<1x5x6xf32>
    %8 = stablehlo.reshape %7 : (tensor<1x5x6xf32>) -> tensor<1x5x1x6xf32>
    %9 = stablehlo.slice %4 [0:2, 0:1, 1:2, 0:6] : (tensor<2x2x3x6xf32>) -> tensor<2x1x1x6xf32>
    %10 = stablehlo.reshape %9 : (tensor<2x1x1x6xf32>) -> tensor<2x1x6xf32>
    %11 = stablehlo.convolution(%x, %10) dim_numbers = [b, 0, f]x[i, 0, o]->[b, 0, f], window = {stride = [1], pad = [[0, 0]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x5x4xf32>, tensor<2x1x6xf32>) -> tensor<1x5x6xf32>
    %12 = stablehlo.reshape %11 : (tensor<1x5x6xf32>) -> tensor<1x5x1x6xf32>
    %13 = stablehlo.slice %4 [0:2, 0:2, 2:3, 0:6] : (tensor<2x2x3x6xf32>) -> tensor<2x2x1x6xf32>
    %14 = stablehlo.reshape %13 : (tensor<2x2x1x6xf32>) -> tensor<2x2x6xf32>
    %15 = stablehlo.convolution(%x, %14) dim_numbers = [b, 0, f]x[i, 0, o]->[b, 0, f], window = {stride = [1], pad = [[0, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x5x4xf32>, tensor<2x2x6xf32>) -> tensor<1x5x6xf32>
    %16 = stablehlo.reshape %15 : (tensor<1x5x6xf32>) -> tensor<1x5x1x6xf32>
    %17 = stablehlo.concatenate %12, %16, %8, dim = 2 : (tensor<1x5x1x6xf32>, tensor<1x5x1x6xf32>, tensor<1x5x1x6xf32>) -> tensor<1x5x3x6xf32>
    %18 = stablehlo.reshape %17 : (tensor<1x5x3x6xf32>) -> tensor<1x15x6xf32>
    %19 = stablehlo.slice %18 [0:1, 0:14, 0:6] : (tensor<1x15x6xf32>) -> tensor<1x14x6xf32>
    return %19 : tensor<1x14x6xf32>
  }
  func.func @few_kernel_elements(%x: tensor<1x2x3xf32>, %w: tensor<2x2x4xf32>) -> tensor<1x4x12xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.pad %w, %0, low = [0, 0, 0], high = [0, 2, 0], interior = [0, 0, 0] : (tensor<2x2x4xf32>, tensor<f32>) -> tensor<2x4x4xf32>
    %2 = stablehlo.reshape %1 : (tensor<2x4x4xf32>) -> tensor<2x1x4x4xf32>
    %3 = stablehlo.reverse %2, dims = [2] : tensor<2x1x4x4xf32>
    %4 = stablehlo.constant dense<0.000000e+00> : tensor<1x4x3x2xf32>
    %5 = stablehlo.slice %3 [0:2, 0:1, 2:4, 0:4] : (tensor<2x1x4x4xf32>) -> tensor<2x1x2x4xf32>
    %6 = stablehlo.transpose %5, dims = [0, 1, 3, 2] : (tensor<2x1x2x4xf32>) -> tensor<2x1x4x2xf32>
    %7 = stablehlo.reshape %6 : (tensor<2x1x4x2xf32>) -> tensor<2x1x8xf32>
    %8 = stablehlo.convolution(%x, %7) dim_numbers = [b, f, 0]x[i, 0, o]->[b, f, 0], window = {stride = [1], pad = [[-1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x3xf32>, tensor<2x1x8xf32>) -> tensor<1x8x3xf32>
    %9 = stablehlo.reshape %8 : (tensor<1x8x3xf32>) -> tensor<1x4x2x3xf32>
    %10 = stablehlo.transpose %9, dims = [0, 1, 3, 2] : (tensor<1x4x2x3xf32>) -> tensor<1x4x3x2xf32>
    %11 = stablehlo.concatenate %4, %10, dim = 3 : (tensor<1x4x3x2xf32>, tensor<1x4x3x2xf32>) -> tensor<1x4x3x4xf32>
    %12 = stablehlo.reshape %11 : (tensor<1x4x3x4xf32>) -> tensor<1x4x12xf32>
    return %12 : tensor<1x4x12xf32>
  }
  func.func @cropped_in_batch_groups(%x: tensor<4x2x5xf32>, %w: tensor<2x5x6xf32>) -> tensor<2x6x3xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.pad %w, %0, low = [0, 0, 0], high = [0, 1, 0], interior = [0, 0, 0] : (tensor<2x5x6xf32>, tensor<f32>) -> tensor<2x6x6xf32>
    %2 = stablehlo.reshape %1 : (tensor<2x6x6xf32>) -> tensor<2x3x2x6xf32>
    %3 = stablehlo.reverse %2, dims = [2] : tensor<2x3x2x6xf32>
    %4 = stablehlo.slice %3 [0:2, 0:2, 0:1, 0:6] : (tensor<2x3x2x6xf32>) -> tensor<2x2x1x6xf32>
    %5 = stablehlo.reshape %4 : (tensor<2x2x1x6xf32>) -> tensor<2x2x6xf32>
    %6 = stablehlo.convolution(%x, %5) dim_numbers = [b, f, 0]x[i, 0, o]->[b, f, 0], window = {stride = [1], pad = [[-1, -1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x2x5xf32>, tensor<2x2x6xf32>) -> tensor<2x6x2xf32>
    %7 = stablehlo.reshape %6 : (tensor<2x6x2xf32>) -> tensor<2x6x2x1xf32>
    %8 = stablehlo.slice %3 [0:2, 0:3, 1:2, 0:6] : (tensor<2x3x2x6xf32>) -> tensor<2x3x1x6xf32>
    %9 = stablehlo.reshape %8 : (tensor<2x3x1x6xf32>) -> tensor<2x3x6xf32>
    %10 = stablehlo.convolution(%x, %9) dim_numbers = [b, f, 0]x[i, 0, o]->[b, f, 0], window = {stride = [1], pad = [[-1, 0]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x2x5xf32>, tensor<2x3x6xf32>) -> tensor<2x6x2xf32>
    %11 = stablehlo.reshape %10 : (tensor<2x6x2xf32>) -> tensor<2x6x2x1xf32>
    %12 = stablehlo.concatenate %7, %11, dim = 3 : (tensor<2x6x2x1xf32>, tensor<2x6x2x1xf32>) -> tensor<2x6x2x2xf32>
    %13 = stablehlo.reshape %12 : (tensor<2x6x2x2xf32>) -> tensor<2x6x4xf32>
    %14 = stablehlo.slice %13 [0:2, 0:6, 0:3] : (tensor<2x6x4xf32>) -> tensor<2x6x3xf32>
    return %14 : tensor<2x6x3xf32>
  }
  func.func @one_kernel_element(%x: tensor<1x2x3x3xf32>, %w: tensor<2x4x1x1xf32>) -> tensor<1x4x6x5xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x3x3xf32>, tensor<2x4x1x1xf32>) -> tensor<1x4x3x3xf32>
    %1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.pad %0, %1, low = [0, 0, 0, 1], high = [0, 0, 0, -1], interior = [0, 0, 0, 1] : (tensor<1x4x3x3xf32>, tensor<f32>) -> tensor<1x4x3x5xf32>
    %3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.pad %2, %3, low = [0, 0, 0, 0], high = [0, 0, 1, 0], interior = [0, 0, 1, 0] : (tensor<1x4x3x5xf32>, tensor<f32>) -> tensor<1x4x6x5xf32>
    return %4 : tensor<1x4x6x5xf32>
  }
}
