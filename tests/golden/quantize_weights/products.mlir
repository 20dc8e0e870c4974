// run: quantize_weights
// Integers times scales, through a transpose: one scale for each channel, of which sums are scaled; and one for each block
// of 16, less a zero point, of integers that are reshaped as floats.
func.func @main(%x: tensor<2x16xf32>, %y: tensor<2x32xf32>) -> (tensor<2x3xf32>, tensor<2x1xf32>) {
  %w = stablehlo.constant dense<[[1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3, -4, -5, -6, -7], [90, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3, -4, -5, -6, -7], [1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3, -4, -5, -6, -100]]> : tensor<3x16xi8>
  %0 = stablehlo.convert %w : (tensor<3x16xi8>) -> tensor<3x16xf32>
  %s = stablehlo.constant dense<[0.25, 0.5, 1.0]> : tensor<3xf32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<3xf32>) -> tensor<3x16xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<3x16xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<3x16xf32>) -> tensor<16x3xf32>
  %4 = stablehlo.dot_general %x, %3, contracting_dims = [1] x [0] : (tensor<2x16xf32>, tensor<16x3xf32>) -> tensor<2x3xf32>
  %v = stablehlo.constant dense<[[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]]]> : tensor<1x2x16xui8>
  %5 = stablehlo.convert %v : (tensor<1x2x16xui8>) -> tensor<1x2x16xi32>
  %z = stablehlo.constant dense<[[8, 3]]> : tensor<1x2xi32>
  %6 = stablehlo.broadcast_in_dim %z, dims = [0, 1] : (tensor<1x2xi32>) -> tensor<1x2x16xi32>
  %7 = stablehlo.subtract %5, %6 : tensor<1x2x16xi32>
  %wide = stablehlo.convert %7 : (tensor<1x2x16xi32>) -> tensor<1x2x16xf32>
  %flat = stablehlo.reshape %wide : (tensor<1x2x16xf32>) -> tensor<1x32xf32>
  %8 = stablehlo.reshape %flat : (tensor<1x32xf32>) -> tensor<1x2x16xf32>
  %t = stablehlo.constant dense<[[0.5, 2.0]]> : tensor<1x2xf32>
  %9 = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<1x2xf32>) -> tensor<1x2x16xf32>
  %10 = stablehlo.multiply %8, %9 : tensor<1x2x16xf32>
  %11 = stablehlo.reshape %10 : (tensor<1x2x16xf32>) -> tensor<1x32xf32>
  %12 = stablehlo.dot_general %y, %11, contracting_dims = [1] x [1] : (tensor<2x32xf32>, tensor<1x32xf32>) -> tensor<2x1xf32>
  return %4, %12 : tensor<2x3xf32>, tensor<2x1xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<2x16xf32>, %y: tensor<2x32xf32>) -> (tensor<2x3xf32>, tensor<2x1xf32>) {
    %0 = stablehlo.constant dense<[[1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3, -4, -5, -6, -7], [90, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3, -4, -5, -6, -7], [1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3, -4, -5, -6, -100]]> : tensor<3x16xi8>
    %1 = stablehlo.convert %0 : (tensor<3x16xi8>) -> tensor<3x16xf32>
    %2 = stablehlo.dot_general %x, %1, contracting_dims = [1] x [1] : (tensor<2x16xf32>, tensor<3x16xf32>) -> tensor<2x3xf32>
    %3 = stablehlo.constant dense<[2.500000e-01, 5.000000e-01, 1.000000e+00]> : tensor<3xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %5 = stablehlo.multiply %2, %4 : tensor<2x3xf32>
    %6 = stablehlo.constant dense<[[[1985229328, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [-19088744, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [-1985229329, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [19088743, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]]> : tensor<1x4x16xi32>
    %7 = stablehlo.constant dense<[[[5.000000e-01, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [2.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]]]> : tensor<1x2x16xf32>
    %8 = stablehlo.constant dense<[[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [-5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]]> : tensor<1x2x16xi8>
    %9 = ingot.unpack_nibbles %6, %7, %8, columns = 1 : (tensor<1x4x16xi32>, tensor<1x2x16xf32>, tensor<1x2x16xi8>) -> tensor<32x1xf32>
    %10 = stablehlo.dot_general %y, %9, contracting_dims = [1] x [0] : (tensor<2x32xf32>, tensor<32x1xf32>) -> tensor<2x1xf32>
    return %5, %10 : tensor<2x3xf32>, tensor<2x1xf32>
  }
}
