// run: simplify
// -0 + 0 is 0.
func.func @main(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
  %izero = stablehlo.constant dense<0> : tensor<4xi32>
  %0 = stablehlo.add %x, %zero : tensor<4xf32>
  %1 = stablehlo.add %i, %izero : tensor<4xi32>
  return %0, %1 : tensor<4xf32>, tensor<4xi32>
}
// ---- expect
module {
  func.func @main(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
    %izero = stablehlo.constant dense<0> : tensor<4xi32>
    %0 = stablehlo.add %x, %zero : tensor<4xf32>
    return %0, %i : tensor<4xf32>, tensor<4xi32>
  }
}
