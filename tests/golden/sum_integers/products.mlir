// run: sum_integers
// Quantized tensors as floats: a scale for all, and one for each column, through a transpose; a convolution with a scale
// for each of its channels.
func.func @main(%x: tensor<2x8xui8>, %w: tensor<3x8xi8>, %i: tensor<1x4x5xi8>, %k: tensor<2x4x3xi8>) -> (tensor<2x3xf32>, tensor<1x2x3xf32>) {
  %0 = stablehlo.convert %x : (tensor<2x8xui8>) -> tensor<2x8xi32>
  %1 = stablehlo.constant dense<7> : tensor<2x8xi32>
  %2 = stablehlo.subtract %0, %1 : tensor<2x8xi32>
  %3 = stablehlo.convert %2 : (tensor<2x8xi32>) -> tensor<2x8xf32>
  %4 = stablehlo.constant dense<0.5> : tensor<2x8xf32>
  %5 = stablehlo.multiply %3, %4 : tensor<2x8xf32>
  %6 = stablehlo.convert %w : (tensor<3x8xi8>) -> tensor<3x8xf32>
  %7 = stablehlo.constant dense<[0.25, 0.5, 1.0]> : tensor<3xf32>
  %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<3xf32>) -> tensor<3x8xf32>
  %9 = stablehlo.multiply %6, %8 : tensor<3x8xf32>
  %10 = stablehlo.transpose %9, dims = [1, 0] : (tensor<3x8xf32>) -> tensor<8x3xf32>
  %11 = stablehlo.dot_general %5, %10, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x3xf32>) -> tensor<2x3xf32>
  %12 = stablehlo.convert %i : (tensor<1x4x5xi8>) -> tensor<1x4x5xf32>
  %13 = stablehlo.constant dense<0.25> : tensor<1x4x5xf32>
  %14 = stablehlo.multiply %12, %13 : tensor<1x4x5xf32>
  %15 = stablehlo.convert %k : (tensor<2x4x3xi8>) -> tensor<2x4x3xf32>
  %16 = stablehlo.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %17 = stablehlo.broadcast_in_dim %16, dims = [0] : (tensor<2xf32>) -> tensor<2x4x3xf32>
  %18 = stablehlo.multiply %15, %17 : tensor<2x4x3xf32>
  %19 = stablehlo.convolution(%14, %18) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x5xf32>, tensor<2x4x3xf32>) -> tensor<1x2x3xf32>
  return %11, %19 : tensor<2x3xf32>, tensor<1x2x3xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<2x8xui8>, %w: tensor<3x8xi8>, %i: tensor<1x4x5xi8>, %k: tensor<2x4x3xi8>) -> (tensor<2x3xf32>, tensor<1x2x3xf32>) {
    %0 = stablehlo.convert %x : (tensor<2x8xui8>) -> tensor<2x8xi32>
    %1 = stablehlo.constant dense<7> : tensor<2x8xi32>
    %2 = stablehlo.subtract %0, %1 : tensor<2x8xi32>
    %3 = stablehlo.transpose %w, dims = [1, 0] : (tensor<3x8xi8>) -> tensor<8x3xi8>
    %4 = stablehlo.convert %3 : (tensor<8x3xi8>) -> tensor<8x3xi32>
    %5 = stablehlo.dot_general %2, %4, contracting_dims = [1] x [0] : (tensor<2x8xi32>, tensor<8x3xi32>) -> tensor<2x3xi32>
    %6 = stablehlo.convert %5 : (tensor<2x3xi32>) -> tensor<2x3xf32>
    %7 = stablehlo.constant dense<[1.250000e-01, 2.500000e-01, 5.000000e-01]> : tensor<3xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %9 = stablehlo.multiply %6, %8 : tensor<2x3xf32>
    %10 = stablehlo.convert %i : (tensor<1x4x5xi8>) -> tensor<1x4x5xi32>
    %11 = stablehlo.convert %k : (tensor<2x4x3xi8>) -> tensor<2x4x3xi32>
    %12 = stablehlo.convolution(%10, %11) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x5xi32>, tensor<2x4x3xi32>) -> tensor<1x2x3xi32>
    %13 = stablehlo.convert %12 : (tensor<1x2x3xi32>) -> tensor<1x2x3xf32>
    %14 = stablehlo.constant dense<[6.250000e-02, 1.250000e-01]> : tensor<2xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [1] : (tensor<2xf32>) -> tensor<1x2x3xf32>
    %16 = stablehlo.multiply %13, %15 : tensor<1x2x3xf32>
    return %9, %16 : tensor<2x3xf32>, tensor<1x2x3xf32>
  }
}
