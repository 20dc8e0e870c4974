// run: simplify, dce
// Products of bf16 are exact in f32: operands that are widened first are multiplied as they were, behind views as well.
func.func @main(%x: tensor<2x3x8xbf16>, %y: tensor<5x8xbf16>, %z: tensor<5x8xf32>) -> (tensor<6x5xf32>, tensor<6x5xf32>) {
  %0 = stablehlo.convert %x : (tensor<2x3x8xbf16>) -> tensor<2x3x8xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
  %2 = stablehlo.convert %y : (tensor<5x8xbf16>) -> tensor<5x8xf32>
  %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [1] : (tensor<6x8xf32>, tensor<5x8xf32>) -> tensor<6x5xf32>
  %4 = stablehlo.dot_general %1, %z, contracting_dims = [1] x [1] : (tensor<6x8xf32>, tensor<5x8xf32>) -> tensor<6x5xf32>
  return %3, %4 : tensor<6x5xf32>, tensor<6x5xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<2x3x8xbf16>, %y: tensor<5x8xbf16>, %z: tensor<5x8xf32>) -> (tensor<6x5xf32>, tensor<6x5xf32>) {
    %0 = stablehlo.convert %x : (tensor<2x3x8xbf16>) -> tensor<2x3x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
    %2 = stablehlo.reshape %x : (tensor<2x3x8xbf16>) -> tensor<6x8xbf16>
    %3 = stablehlo.dot_general %2, %y, contracting_dims = [1] x [1] : (tensor<6x8xbf16>, tensor<5x8xbf16>) -> tensor<6x5xf32>
    %4 = stablehlo.dot_general %1, %z, contracting_dims = [1] x [1] : (tensor<6x8xf32>, tensor<5x8xf32>) -> tensor<6x5xf32>
    return %3, %4 : tensor<6x5xf32>, tensor<6x5xf32>
  }
}
