// run: split_complex
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xi1>) {
  %one = stablehlo.constant dense<(1.0, -2.0)> : tensor<3xcomplex<f32>>
  %z = stablehlo.complex %x, %y : tensor<3xcomplex<f32>>
  %sum = stablehlo.add %z, %one : tensor<3xcomplex<f32>>
  %product = stablehlo.multiply %sum, %z : tensor<3xcomplex<f32>>
  %turned = stablehlo.reverse %product, dims = [0] : tensor<3xcomplex<f32>>
  %im = stablehlo.imag %turned : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  %same = stablehlo.compare EQ, %turned, %one : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<3xi1>
  return %im, %same : tensor<3xf32>, tensor<3xi1>
}
// ---- expect
module {
  func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xi1>) {
    %0 = stablehlo.constant dense<1.000000e+00> : tensor<3xf32>
    %1 = stablehlo.constant dense<-2.000000e+00> : tensor<3xf32>
    %2 = stablehlo.add %x, %0 : tensor<3xf32>
    %3 = stablehlo.add %y, %1 : tensor<3xf32>
    %4 = stablehlo.multiply %3, %y : tensor<3xf32>
    %5 = stablehlo.negate %4 : tensor<3xf32>
    %6 = ingot.fma %2, %x, %5 : tensor<3xf32>
    %7 = stablehlo.multiply %2, %y : tensor<3xf32>
    %8 = ingot.fma %3, %x, %7 : tensor<3xf32>
    %9 = stablehlo.reverse %6, dims = [0] : tensor<3xf32>
    %im = stablehlo.reverse %8, dims = [0] : tensor<3xf32>
    %10 = stablehlo.compare EQ, %9, %0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %11 = stablehlo.compare EQ, %im, %1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %same = stablehlo.and %10, %11 : tensor<3xi1>
    return %im, %same : tensor<3xf32>, tensor<3xi1>
  }
}
