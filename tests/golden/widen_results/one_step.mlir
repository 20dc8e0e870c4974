// run: widen_results
// What is converted at once is not rounded before, and rounded for others. What the program itself converts to bf16, and
// what is reshaped in between, stays. (The op rounds nothing here, so that the meaning can be compared.)
func.func @main(%x: tensor<4xbf16>, %y: tensor<4xbf16>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>, tensor<2x2xf32>) {
  %0 = stablehlo.maximum %x, %y : tensor<4xbf16>
  %1 = stablehlo.convert %0 : (tensor<4xbf16>) -> tensor<4xf32>
  %2 = stablehlo.convert %z : (tensor<4xf32>) -> tensor<4xbf16>
  %3 = stablehlo.convert %2 : (tensor<4xbf16>) -> tensor<4xf32>
  %4 = stablehlo.reshape %0 : (tensor<4xbf16>) -> tensor<2x2xbf16>
  %5 = stablehlo.convert %4 : (tensor<2x2xbf16>) -> tensor<2x2xf32>
  return %1, %0, %3, %5 : tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>, tensor<2x2xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<4xbf16>, %y: tensor<4xbf16>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>, tensor<2x2xf32>) {
    %0 = stablehlo.convert %x : (tensor<4xbf16>) -> tensor<4xf32>
    %1 = stablehlo.convert %y : (tensor<4xbf16>) -> tensor<4xf32>
    %2 = stablehlo.maximum %0, %1 : tensor<4xf32>
    %3 = stablehlo.convert %2 : (tensor<4xf32>) -> tensor<4xbf16>
    %4 = stablehlo.convert %z : (tensor<4xf32>) -> tensor<4xbf16>
    %5 = stablehlo.convert %4 : (tensor<4xbf16>) -> tensor<4xf32>
    %6 = stablehlo.reshape %3 : (tensor<4xbf16>) -> tensor<2x2xbf16>
    %7 = stablehlo.convert %6 : (tensor<2x2xbf16>) -> tensor<2x2xf32>
    return %2, %3, %5, %7 : tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>, tensor<2x2xf32>
  }
}
