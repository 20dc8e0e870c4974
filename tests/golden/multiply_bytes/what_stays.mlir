// run: multiply_bytes
// Too shallow; numbers that are too far apart for a byte; sums of other types; channels that are convolved apart.
func.func @main(%x: tensor<4x2xui8>, %y: tensor<2x4xi8>, %u: tensor<4x4xi16>, %v: tensor<4x4xui8>, %a: tensor<1x4x5xui8>, %w: tensor<4x1x3xi8>) -> (tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xui32>, tensor<1x4x3xi32>) {
  %0 = stablehlo.convert %x : (tensor<4x2xui8>) -> tensor<4x2xi32>
  %1 = stablehlo.convert %y : (tensor<2x4xi8>) -> tensor<2x4xi32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<4x2xi32>, tensor<2x4xi32>) -> tensor<4x4xi32>
  %3 = stablehlo.dot_general %u, %u, contracting_dims = [1] x [0] : (tensor<4x4xi16>, tensor<4x4xi16>) -> tensor<4x4xi32>
  %4 = stablehlo.dot_general %v, %v, contracting_dims = [1] x [0] : (tensor<4x4xui8>, tensor<4x4xui8>) -> tensor<4x4xui32>
  %5 = stablehlo.convert %a : (tensor<1x4x5xui8>) -> tensor<1x4x5xi32>
  %6 = stablehlo.convert %w : (tensor<4x1x3xi8>) -> tensor<4x1x3xi32>
  %7 = stablehlo.convolution(%5, %6) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<1x4x5xi32>, tensor<4x1x3xi32>) -> tensor<1x4x3xi32>
  return %2, %3, %4, %7 : tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xui32>, tensor<1x4x3xi32>
}
// ---- expect
module {
  func.func @main(%x: tensor<4x2xui8>, %y: tensor<2x4xi8>, %u: tensor<4x4xi16>, %v: tensor<4x4xui8>, %a: tensor<1x4x5xui8>, %w: tensor<4x1x3xi8>) -> (tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xui32>, tensor<1x4x3xi32>) {
    %0 = stablehlo.convert %x : (tensor<4x2xui8>) -> tensor<4x2xi32>
    %1 = stablehlo.convert %y : (tensor<2x4xi8>) -> tensor<2x4xi32>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<4x2xi32>, tensor<2x4xi32>) -> tensor<4x4xi32>
    %3 = stablehlo.dot_general %u, %u, contracting_dims = [1] x [0] : (tensor<4x4xi16>, tensor<4x4xi16>) -> tensor<4x4xi32>
    %4 = stablehlo.dot_general %v, %v, contracting_dims = [1] x [0] : (tensor<4x4xui8>, tensor<4x4xui8>) -> tensor<4x4xui32>
    %5 = stablehlo.convert %a : (tensor<1x4x5xui8>) -> tensor<1x4x5xi32>
    %6 = stablehlo.convert %w : (tensor<4x1x3xi8>) -> tensor<4x1x3xi32>
    %7 = stablehlo.convolution(%5, %6) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<1x4x5xi32>, tensor<4x1x3xi32>) -> tensor<1x4x3xi32>
    return %2, %3, %4, %7 : tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xui32>, tensor<1x4x3xi32>
  }
}
