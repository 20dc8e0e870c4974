// run: simplify, dce
// x * 1, x + -0, x / 4, --x, x - -y, select on a constant, max with -inf.
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %minus_zero = stablehlo.constant dense<-0.0> : tensor<4xf32>
  %four = stablehlo.constant dense<4.0> : tensor<4xf32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<4xf32>
  %true = stablehlo.constant dense<true> : tensor<4xi1>
  %0 = stablehlo.multiply %one, %x : tensor<4xf32>
  %1 = stablehlo.add %y, %minus_zero : tensor<4xf32>
  %2 = stablehlo.divide %x, %four : tensor<4xf32>
  %3 = stablehlo.negate %y : tensor<4xf32>
  %4 = stablehlo.negate %3 : tensor<4xf32>
  %5 = stablehlo.subtract %x, %3 : tensor<4xf32>
  %6 = stablehlo.select %true, %x, %y : tensor<4xi1>, tensor<4xf32>
  %7 = stablehlo.maximum %lowest, %y : tensor<4xf32>
  return %0, %1, %2, %4, %5, %6, %7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.constant dense<2.500000e-01> : tensor<4xf32>
    %1 = stablehlo.multiply %x, %0 : tensor<4xf32>
    %2 = stablehlo.add %x, %y : tensor<4xf32>
    return %x, %y, %1, %y, %2, %x, %y : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
