// run: quantize_to_integers
// Products of integers without zero points, summed in i32, scaled once; of float activations the weights are dequantized.
func.func @symmetric(%x: tensor<2x4x!quant.uniform<i8:f32, 0.5>>, %y: tensor<4x3x!quant.uniform<i8:f32, 0.25>>) -> tensor<2x3x!quant.uniform<i32:f32, 0.125>> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x4x!quant.uniform<i8:f32, 0.5>>, tensor<4x3x!quant.uniform<i8:f32, 0.25>>) -> tensor<2x3x!quant.uniform<i32:f32, 0.125>>
  return %0 : tensor<2x3x!quant.uniform<i32:f32, 0.125>>
}
func.func @per_channel(%x: tensor<2x4x!quant.uniform<i8:f32, 0.5:-30>>, %y: tensor<4x2x!quant.uniform<i8:f32:1, {0.25:1,0.5}>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:7>> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x4x!quant.uniform<i8:f32, 0.5:-30>>, tensor<4x2x!quant.uniform<i8:f32:1, {0.25:1,0.5}>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:7>>
  return %0 : tensor<2x2x!quant.uniform<i8:f32, 0.5:7>>
}
func.func @weights_only(%x: tensor<2x4xf32>, %y: tensor<4x3x!quant.uniform<i8:f32, 0.25>>) -> tensor<2x3xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3x!quant.uniform<i8:f32, 0.25>>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// ---- expect
module {
  func.func @symmetric(%x: tensor<2x4xi8>, %y: tensor<4x3xi8>) -> tensor<2x3xi32> {
    %0 = stablehlo.convert %x : (tensor<2x4xi8>) -> tensor<2x4xf32>
    %1 = stablehlo.convert %y : (tensor<4x3xi8>) -> tensor<4x3xf32>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
    %3 = stablehlo.convert %2 : (tensor<2x3xf32>) -> tensor<2x3xf64>
    %4 = stablehlo.constant dense<1.250000e-01> : tensor<2x3xf64>
    %5 = stablehlo.multiply %3, %4 : tensor<2x3xf64>
    %6 = stablehlo.constant dense<1.250000e-01> : tensor<2x3xf64>
    %7 = stablehlo.divide %5, %6 : tensor<2x3xf64>
    %8 = stablehlo.constant dense<-2.147483648e+09> : tensor<f64>
    %9 = stablehlo.constant dense<2.147483647e+09> : tensor<f64>
    %10 = stablehlo.clamp %8, %7, %9 : (tensor<f64>, tensor<2x3xf64>, tensor<f64>) -> tensor<2x3xf64>
    %11 = stablehlo.round_nearest_even %10 : tensor<2x3xf64>
    %12 = stablehlo.convert %11 : (tensor<2x3xf64>) -> tensor<2x3xi32>
    return %12 : tensor<2x3xi32>
  }
  func.func @per_channel(%x: tensor<2x4xi8>, %y: tensor<4x2xi8>) -> tensor<2x2xi8> {
    %0 = stablehlo.convert %x : (tensor<2x4xi8>) -> tensor<2x4xf32>
    %1 = stablehlo.constant dense<-3.000000e+01> : tensor<2x4xf32>
    %2 = stablehlo.subtract %0, %1 : tensor<2x4xf32>
    %3 = stablehlo.convert %y : (tensor<4x2xi8>) -> tensor<4x2xf32>
    %4 = stablehlo.constant dense<[1.000000e+00, 0.000000e+00]> : tensor<2xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [1] : (tensor<2xf32>) -> tensor<4x2xf32>
    %6 = stablehlo.subtract %3, %5 : tensor<4x2xf32>
    %7 = stablehlo.dot_general %2, %6, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
    %8 = stablehlo.constant dense<[1.250000e-01, 2.500000e-01]> : tensor<2xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
    %10 = stablehlo.multiply %7, %9 : tensor<2x2xf32>
    %11 = stablehlo.constant dense<5.000000e-01> : tensor<2x2xf32>
    %12 = stablehlo.divide %10, %11 : tensor<2x2xf32>
    %13 = stablehlo.constant dense<7.000000e+00> : tensor<2x2xf32>
    %14 = stablehlo.add %12, %13 : tensor<2x2xf32>
    %15 = stablehlo.constant dense<-1.280000e+02> : tensor<f32>
    %16 = stablehlo.constant dense<1.270000e+02> : tensor<f32>
    %17 = stablehlo.clamp %15, %14, %16 : (tensor<f32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
    %18 = stablehlo.round_nearest_even %17 : tensor<2x2xf32>
    %19 = stablehlo.convert %18 : (tensor<2x2xf32>) -> tensor<2x2xi8>
    return %19 : tensor<2x2xi8>
  }
  func.func @weights_only(%x: tensor<2x4xf32>, %y: tensor<4x3xi8>) -> tensor<2x3xf32> {
    %0 = stablehlo.convert %y : (tensor<4x3xi8>) -> tensor<4x3xi32>
    %1 = stablehlo.convert %0 : (tensor<4x3xi32>) -> tensor<4x3xf32>
    %2 = stablehlo.constant dense<2.500000e-01> : tensor<4x3xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<4x3xf32>
    %4 = stablehlo.dot_general %x, %3, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
    return %4 : tensor<2x3xf32>
  }
}
