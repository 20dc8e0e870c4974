// run: quantize_to_integers
// A scale for each element of an axis: integers move as they are where elements keep their index along it.
func.func @kept(%x: tensor<2x4x!quant.uniform<i8:f32:0, {0.5,0.25:1}>>) -> tensor<3x1x2x!quant.uniform<i8:f32:2, {0.5,0.25:1}>> {
  %0 = stablehlo.slice %x [0:2, 1:4] : (tensor<2x4x!quant.uniform<i8:f32:0, {0.5,0.25:1}>>) -> tensor<2x3x!quant.uniform<i8:f32:0, {0.5,0.25:1}>>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3x!quant.uniform<i8:f32:0, {0.5,0.25:1}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5,0.25:1}>>
  %2 = stablehlo.reshape %1 : (tensor<3x2x!quant.uniform<i8:f32:1, {0.5,0.25:1}>>) -> tensor<3x1x2x!quant.uniform<i8:f32:2, {0.5,0.25:1}>>
  return %2 : tensor<3x1x2x!quant.uniform<i8:f32:2, {0.5,0.25:1}>>
}
func.func @turned(%x: tensor<2x!quant.uniform<i8:f32:0, {0.5,0.25}>>) -> tensor<2x!quant.uniform<i8:f32:0, {0.5,0.25}>> {
  %0 = stablehlo.reverse %x, dims = [0] : tensor<2x!quant.uniform<i8:f32:0, {0.5,0.25}>>
  return %0 : tensor<2x!quant.uniform<i8:f32:0, {0.5,0.25}>>
}
// ---- expect
module {
  func.func @kept(%x: tensor<2x4xi8>) -> tensor<3x1x2xi8> {
    %0 = stablehlo.slice %x [0:2, 1:4] : (tensor<2x4xi8>) -> tensor<2x3xi8>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xi8>) -> tensor<3x2xi8>
    %2 = stablehlo.reshape %1 : (tensor<3x2xi8>) -> tensor<3x1x2xi8>
    return %2 : tensor<3x1x2xi8>
  }
  func.func @turned(%x: tensor<2xi8>) -> tensor<2xi8> {
    %0 = stablehlo.convert %x : (tensor<2xi8>) -> tensor<2xi32>
    %1 = stablehlo.convert %0 : (tensor<2xi32>) -> tensor<2xf32>
    %2 = stablehlo.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<2xf32>) -> tensor<2xf32>
    %4 = stablehlo.multiply %1, %3 : tensor<2xf32>
    %5 = stablehlo.reverse %4, dims = [0] : tensor<2xf32>
    %6 = stablehlo.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<2xf32>) -> tensor<2xf32>
    %8 = stablehlo.divide %5, %7 : tensor<2xf32>
    %9 = stablehlo.constant dense<-1.280000e+02> : tensor<f32>
    %10 = stablehlo.constant dense<1.270000e+02> : tensor<f32>
    %11 = stablehlo.clamp %9, %8, %10 : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %12 = stablehlo.round_nearest_even %11 : tensor<2xf32>
    %13 = stablehlo.convert %12 : (tensor<2xf32>) -> tensor<2xi8>
    return %13 : tensor<2xi8>
  }
}
