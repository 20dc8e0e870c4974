// run: cse
// Equal constants, ops and regions are one; another attribute or order of operands is another op.
func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>) {
  %z0 = stablehlo.constant dense<0.0> : tensor<f32>
  %z1 = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.subtract %x, %y : tensor<4x4xf32>
  %1 = stablehlo.subtract %x, %y : tensor<4x4xf32>
  %2 = stablehlo.subtract %y, %x : tensor<4x4xf32>
  %3 = stablehlo.reduce(%0 init: %z0) applies stablehlo.add across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = stablehlo.reduce(%1 init: %z1) applies stablehlo.add across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = stablehlo.reduce(%1 init: %z1) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %3, %4, %5, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>) {
    %z0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.subtract %x, %y : tensor<4x4xf32>
    %1 = stablehlo.subtract %y, %x : tensor<4x4xf32>
    %2 = stablehlo.reduce(%0 init: %z0) applies stablehlo.add across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %4 = stablehlo.reduce(%0 init: %z0) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    return %2, %2, %4, %1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>
  }
}
