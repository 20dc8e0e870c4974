// run: simplify, dce
// The relu that keeps NaN: what the backward pass reads is the relu's output, not its input.
func.func @main(%x: tensor<4xf32>, %g: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0 = stablehlo.compare LE, %x, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %1 = stablehlo.select %0, %zero, %x : tensor<4xi1>, tensor<4xf32>
  %2 = stablehlo.select %0, %zero, %g : tensor<4xi1>, tensor<4xf32>
  %3 = stablehlo.compare LT, %y, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %4 = stablehlo.select %3, %zero, %y : tensor<4xi1>, tensor<4xf32>
  %5 = stablehlo.select %3, %zero, %g : tensor<4xi1>, tensor<4xf32>
  return %1, %2, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<4xf32>, %g: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
    %0 = stablehlo.compare LE, %x, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %1 = stablehlo.select %0, %zero, %x : tensor<4xi1>, tensor<4xf32>
    %2 = stablehlo.compare LE, %1, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %3 = stablehlo.select %2, %zero, %g : tensor<4xi1>, tensor<4xf32>
    %4 = stablehlo.compare LT, %y, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %5 = stablehlo.select %4, %zero, %y : tensor<4xi1>, tensor<4xf32>
    %6 = stablehlo.select %4, %zero, %g : tensor<4xi1>, tensor<4xf32>
    return %1, %3, %5, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
