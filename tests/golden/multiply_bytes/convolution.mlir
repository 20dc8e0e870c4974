// run: multiply_bytes
// A zero point of what is padded: with its byte.
func.func @main(%x: tensor<1x4x3x3xui8>) -> tensor<1x1x3x3xi32> {
  %0 = stablehlo.convert %x : (tensor<1x4x3x3xui8>) -> tensor<1x4x3x3xi32>
  %1 = stablehlo.constant dense<128> : tensor<1x4x3x3xi32>
  %2 = stablehlo.subtract %0, %1 : tensor<1x4x3x3xi32>
  %3 = stablehlo.constant dense<[[[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]], [[-1, -2, -3]]]]> : tensor<1x4x1x3xi32>
  %4 = stablehlo.convolution(%2, %3) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[0, 0], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x3x3xi32>, tensor<1x4x1x3xi32>) -> tensor<1x1x3x3xi32>
  return %4 : tensor<1x1x3x3xi32>
}
// ---- expect
module {
  func.func @main(%x: tensor<1x4x3x3xui8>) -> tensor<1x1x3x3xi32> {
    %0 = stablehlo.constant dense<128> : tensor<ui8>
    %1 = stablehlo.pad %x, %0, low = [0, 0, 0, 1], high = [0, 0, 0, 1], interior = [0, 0, 0, 0] : (tensor<1x4x3x3xui8>, tensor<ui8>) -> tensor<1x4x3x5xui8>
    %2 = ingot.pack_words %1, dim = 1 : (tensor<1x4x3x5xui8>) -> tensor<1x1x3x5xi32>
    %3 = stablehlo.constant dense<[[[[-16317439, -33028862, -49740285]]]]> : tensor<1x1x1x3xi32>
    %4 = stablehlo.convolution(%2, %3) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, ingot.unsigned_bytes = 0 : i64} : (tensor<1x1x3x5xi32>, tensor<1x1x1x3xi32>) -> tensor<1x1x3x3xi32>
    %5 = stablehlo.constant dense<[-4992]> : tensor<1xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [1] : (tensor<1xi32>) -> tensor<1x1x3x3xi32>
    %7 = stablehlo.add %4, %6 : tensor<1x1x3x3xi32>
    return %7 : tensor<1x1x3x3xi32>
  }
}
