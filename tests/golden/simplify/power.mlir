// run: simplify, dce
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %three = stablehlo.constant dense<3.0> : tensor<4xf32>
  %minus_one = stablehlo.constant dense<-1.0> : tensor<4xf32>
  %half = stablehlo.constant dense<0.5> : tensor<4xf32>
  %0 = stablehlo.power %x, %two : tensor<4xf32>
  %1 = stablehlo.power %x, %three : tensor<4xf32>
  %2 = stablehlo.power %x, %minus_one : tensor<4xf32>
  %3 = stablehlo.power %x, %half : tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %half = stablehlo.constant dense<5.000000e-01> : tensor<4xf32>
    %0 = stablehlo.multiply %x, %x : tensor<4xf32>
    %1 = stablehlo.multiply %x, %x : tensor<4xf32>
    %2 = stablehlo.multiply %1, %x : tensor<4xf32>
    %3 = stablehlo.constant dense<1.000000e+00> : tensor<4xf32>
    %4 = stablehlo.divide %3, %x : tensor<4xf32>
    %5 = stablehlo.power %x, %half : tensor<4xf32>
    return %0, %2, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
