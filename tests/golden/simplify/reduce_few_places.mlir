// run: simplify, dce
// The power of complex numbers whose parts lie side by side; and what a vector is worth for stays a reduction.
func.func @main(%re: tensor<8x3xf32>, %im: tensor<8x3xf32>, %x: tensor<8x5xf32>) -> (tensor<6x3xf32>, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %re : (tensor<8x3xf32>) -> tensor<8x3x1xf32>
  %1 = stablehlo.reshape %im : (tensor<8x3xf32>) -> tensor<8x3x1xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 2 : (tensor<8x3x1xf32>, tensor<8x3x1xf32>) -> tensor<8x3x2xf32>
  %3 = stablehlo.slice %2 [0:6, 0:3, 0:2] : (tensor<8x3x2xf32>) -> tensor<6x3x2xf32>
  %4 = stablehlo.multiply %3, %3 : tensor<6x3x2xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<6x3x2xf32>, tensor<f32>) -> tensor<6x3xf32>
  %6 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x5xf32>, tensor<f32>) -> tensor<8xf32>
  return %5, %6 : tensor<6x3xf32>, tensor<8xf32>
}
// ---- expect
module {
  func.func @main(%re: tensor<8x3xf32>, %im: tensor<8x3xf32>, %x: tensor<8x5xf32>) -> (tensor<6x3xf32>, tensor<8xf32>) {
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.slice %re [0:6, 0:3] : (tensor<8x3xf32>) -> tensor<6x3xf32>
    %1 = stablehlo.slice %re [0:6, 0:3] : (tensor<8x3xf32>) -> tensor<6x3xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<6x3xf32>
    %3 = stablehlo.slice %im [0:6, 0:3] : (tensor<8x3xf32>) -> tensor<6x3xf32>
    %4 = stablehlo.slice %im [0:6, 0:3] : (tensor<8x3xf32>) -> tensor<6x3xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<6x3xf32>
    %6 = stablehlo.add %2, %5 : tensor<6x3xf32>
    %7 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x5xf32>, tensor<f32>) -> tensor<8xf32>
    return %6, %7 : tensor<6x3xf32>, tensor<8xf32>
  }
}
