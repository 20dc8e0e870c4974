// run: canonicalize
// The same mean, once as [4] and once as [1,4,1], is one value.
func.func @main(%s: tensor<4xf32>) -> (tensor<4xf32>, tensor<1x4x1xf32>) {
  %n = stablehlo.constant dense<3.0> : tensor<4xf32>
  %m = stablehlo.constant dense<3.0> : tensor<1x4x1xf32>
  %0 = stablehlo.divide %s, %n : tensor<4xf32>
  %1 = stablehlo.reshape %s : (tensor<4xf32>) -> tensor<1x4x1xf32>
  %2 = stablehlo.divide %1, %m : tensor<1x4x1xf32>
  return %0, %2 : tensor<4xf32>, tensor<1x4x1xf32>
}
// ---- expect
module {
  func.func @main(%s: tensor<4xf32>) -> (tensor<4xf32>, tensor<1x4x1xf32>) {
    %n = stablehlo.constant dense<3.000000e+00> : tensor<4xf32>
    %0 = stablehlo.divide %s, %n : tensor<4xf32>
    %1 = stablehlo.reshape %0 : (tensor<4xf32>) -> tensor<1x4x1xf32>
    return %0, %1 : tensor<4xf32>, tensor<1x4x1xf32>
  }
}
