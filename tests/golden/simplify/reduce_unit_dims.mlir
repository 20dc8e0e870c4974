// run: simplify, dce
// Nothing to reduce is a reshape; unit dimensions go from other reductions.
func.func @main(%x: tensor<1x4xf32>, %y: tensor<8x1x3xf32>) -> (tensor<4xf32>, tensor<3xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1x4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x1x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0, %1 : tensor<4xf32>, tensor<3xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<1x4xf32>, %y: tensor<8x1x3xf32>) -> (tensor<4xf32>, tensor<3xf32>) {
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reshape %x : (tensor<1x4xf32>) -> tensor<4xf32>
    %1 = stablehlo.reshape %y : (tensor<8x1x3xf32>) -> tensor<8x3xf32>
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x3xf32>, tensor<f32>) -> tensor<3xf32>
    return %0, %2 : tensor<4xf32>, tensor<3xf32>
  }
}
