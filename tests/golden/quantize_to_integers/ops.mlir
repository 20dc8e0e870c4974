// run: quantize_to_integers
// Dequantized, computed, quantized; moves are of integers.
func.func @add(%x: tensor<2x3x!quant.uniform<i8:f32, 0.5:-30>>, %y: tensor<3x2x!quant.uniform<i8:f32, 0.25>>) -> tensor<2x3x!quant.uniform<i8<-100:100>:f32, 0.5>> {
  %t = stablehlo.transpose %y, dims = [1, 0] : (tensor<3x2x!quant.uniform<i8:f32, 0.25>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.25>>
  %s = stablehlo.add %x, %t : (tensor<2x3x!quant.uniform<i8:f32, 0.5:-30>>, tensor<2x3x!quant.uniform<i8:f32, 0.25>>) -> tensor<2x3x!quant.uniform<i8<-100:100>:f32, 0.5>>
  return %s : tensor<2x3x!quant.uniform<i8<-100:100>:f32, 0.5>>
}
func.func @per_axis(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %q = stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<ui8:f32:0, {0.5:3,0.25:7}>>
  %f = stablehlo.uniform_dequantize %q : (tensor<2x3x!quant.uniform<ui8:f32:0, {0.5:3,0.25:7}>>) -> tensor<2x3xf32>
  return %f : tensor<2x3xf32>
}
func.func @constant() -> tensor<2x!quant.uniform<i8:f32, 0.5>> {
  %0 = stablehlo.constant() <{value = dense<[1, 2]> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5>>
}
// ---- expect
module {
  func.func @add(%x: tensor<2x3xi8>, %y: tensor<3x2xi8>) -> tensor<2x3xi8> {
    %t = stablehlo.transpose %y, dims = [1, 0] : (tensor<3x2xi8>) -> tensor<2x3xi8>
    %0 = stablehlo.convert %x : (tensor<2x3xi8>) -> tensor<2x3xi32>
    %1 = stablehlo.constant dense<-30> : tensor<2x3xi32>
    %2 = stablehlo.subtract %0, %1 : tensor<2x3xi32>
    %3 = stablehlo.convert %2 : (tensor<2x3xi32>) -> tensor<2x3xf32>
    %4 = stablehlo.constant dense<5.000000e-01> : tensor<2x3xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<2x3xf32>
    %6 = stablehlo.convert %t : (tensor<2x3xi8>) -> tensor<2x3xi32>
    %7 = stablehlo.convert %6 : (tensor<2x3xi32>) -> tensor<2x3xf32>
    %8 = stablehlo.constant dense<2.500000e-01> : tensor<2x3xf32>
    %9 = stablehlo.multiply %7, %8 : tensor<2x3xf32>
    %10 = stablehlo.add %5, %9 : tensor<2x3xf32>
    %11 = stablehlo.constant dense<5.000000e-01> : tensor<2x3xf32>
    %12 = stablehlo.divide %10, %11 : tensor<2x3xf32>
    %13 = stablehlo.constant dense<-1.000000e+02> : tensor<f32>
    %14 = stablehlo.constant dense<1.000000e+02> : tensor<f32>
    %15 = stablehlo.clamp %13, %12, %14 : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %16 = stablehlo.round_nearest_even %15 : tensor<2x3xf32>
    %s = stablehlo.convert %16 : (tensor<2x3xf32>) -> tensor<2x3xi8>
    return %s : tensor<2x3xi8>
  }
  func.func @per_axis(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
    %2 = stablehlo.divide %x, %1 : tensor<2x3xf32>
    %3 = stablehlo.constant dense<[3.000000e+00, 7.000000e+00]> : tensor<2xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
    %5 = stablehlo.add %2, %4 : tensor<2x3xf32>
    %6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.constant dense<2.550000e+02> : tensor<f32>
    %8 = stablehlo.clamp %6, %5, %7 : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %9 = stablehlo.round_nearest_even %8 : tensor<2x3xf32>
    %q = stablehlo.convert %9 : (tensor<2x3xf32>) -> tensor<2x3xui8>
    %10 = stablehlo.convert %q : (tensor<2x3xui8>) -> tensor<2x3xi32>
    %11 = stablehlo.constant dense<[3, 7]> : tensor<2xi32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<2xi32>) -> tensor<2x3xi32>
    %13 = stablehlo.subtract %10, %12 : tensor<2x3xi32>
    %14 = stablehlo.convert %13 : (tensor<2x3xi32>) -> tensor<2x3xf32>
    %15 = stablehlo.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
    %f = stablehlo.multiply %14, %16 : tensor<2x3xf32>
    return %f : tensor<2x3xf32>
  }
  func.func @constant() -> tensor<2xi8> {
    %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi8>
    return %0 : tensor<2xi8>
  }
}
