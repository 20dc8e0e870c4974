// run: simplify, dce
// f16 -> f32 -> f64 loses nothing on the way; f32 -> f16 -> f32 does; i32 -> f64 -> i8 saturates, i32 -> i8 would wrap.
func.func @main(%h: tensor<4xf16>, %x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf64>, tensor<4xf32>, tensor<4xi8>, tensor<4xi32>) {
  %0 = stablehlo.convert %h : (tensor<4xf16>) -> tensor<4xf32>
  %1 = stablehlo.convert %0 : (tensor<4xf32>) -> tensor<4xf64>
  %2 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf16>
  %3 = stablehlo.convert %2 : (tensor<4xf16>) -> tensor<4xf32>
  %4 = stablehlo.convert %i : (tensor<4xi32>) -> tensor<4xf64>
  %5 = stablehlo.convert %4 : (tensor<4xf64>) -> tensor<4xi8>
  %6 = stablehlo.convert %4 : (tensor<4xf64>) -> tensor<4xi32>
  return %1, %3, %5, %6 : tensor<4xf64>, tensor<4xf32>, tensor<4xi8>, tensor<4xi32>
}
// ---- expect
module {
  func.func @main(%h: tensor<4xf16>, %x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf64>, tensor<4xf32>, tensor<4xi8>, tensor<4xi32>) {
    %0 = stablehlo.convert %h : (tensor<4xf16>) -> tensor<4xf64>
    %1 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf16>
    %2 = stablehlo.convert %1 : (tensor<4xf16>) -> tensor<4xf32>
    %3 = stablehlo.convert %i : (tensor<4xi32>) -> tensor<4xf64>
    %4 = stablehlo.convert %3 : (tensor<4xf64>) -> tensor<4xi8>
    return %0, %2, %4, %i : tensor<4xf64>, tensor<4xf32>, tensor<4xi8>, tensor<4xi32>
  }
}
