// run: canonicalize
// What nothing reads but a conversion to f32 is computed in f32 (here by ops that round nothing, so that the meaning can
// be compared); a product that is also a result is not, nor what the program itself converts to bf16.
func.func @main(%x: tensor<4xbf16>, %y: tensor<4xbf16>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.maximum %x, %y : tensor<4xbf16>
  %1 = stablehlo.negate %0 : tensor<4xbf16>
  %2 = stablehlo.convert %1 : (tensor<4xbf16>) -> tensor<4xf32>
  %3 = stablehlo.multiply %x, %y : tensor<4xbf16>
  %4 = stablehlo.convert %3 : (tensor<4xbf16>) -> tensor<4xf32>
  %5 = stablehlo.convert %z : (tensor<4xf32>) -> tensor<4xbf16>
  %6 = stablehlo.convert %5 : (tensor<4xbf16>) -> tensor<4xf32>
  return %2, %3, %4, %6 : tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>, tensor<4xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<4xbf16>, %y: tensor<4xbf16>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.convert %x : (tensor<4xbf16>) -> tensor<4xf32>
    %1 = stablehlo.convert %y : (tensor<4xbf16>) -> tensor<4xf32>
    %2 = stablehlo.maximum %0, %1 : tensor<4xf32>
    %3 = stablehlo.negate %2 : tensor<4xf32>
    %4 = stablehlo.multiply %x, %y : tensor<4xbf16>
    %5 = stablehlo.convert %4 : (tensor<4xbf16>) -> tensor<4xf32>
    %6 = stablehlo.convert %z : (tensor<4xf32>) -> tensor<4xbf16>
    %7 = stablehlo.convert %6 : (tensor<4xbf16>) -> tensor<4xf32>
    return %3, %4, %5, %7 : tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>, tensor<4xf32>
  }
}
