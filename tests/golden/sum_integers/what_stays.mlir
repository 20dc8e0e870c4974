// run: sum_integers
// A scale for each element that is summed; integers of many bits; a scale that only the run knows.
func.func @main(%x: tensor<2x3xui8>, %w: tensor<3x2xi8>, %v: tensor<3x2xi16>, %s: tensor<f32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %0 = stablehlo.convert %x : (tensor<2x3xui8>) -> tensor<2x3xf32>
  %1 = stablehlo.constant dense<0.5> : tensor<2x3xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<2x3xf32>
  %3 = stablehlo.convert %w : (tensor<3x2xi8>) -> tensor<3x2xf32>
  %4 = stablehlo.constant dense<[0.25, 0.5, 1.0]> : tensor<3xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<3xf32>) -> tensor<3x2xf32>
  %6 = stablehlo.multiply %3, %5 : tensor<3x2xf32>
  %7 = stablehlo.dot_general %2, %6, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %8 = stablehlo.convert %v : (tensor<3x2xi16>) -> tensor<3x2xf32>
  %9 = stablehlo.constant dense<0.5> : tensor<3x2xf32>
  %10 = stablehlo.multiply %8, %9 : tensor<3x2xf32>
  %11 = stablehlo.dot_general %2, %10, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %12 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
  %13 = stablehlo.multiply %3, %12 : tensor<3x2xf32>
  %14 = stablehlo.dot_general %2, %13, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %7, %11, %14 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<2x3xui8>, %w: tensor<3x2xi8>, %v: tensor<3x2xi16>, %s: tensor<f32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
    %0 = stablehlo.convert %x : (tensor<2x3xui8>) -> tensor<2x3xf32>
    %1 = stablehlo.constant dense<5.000000e-01> : tensor<2x3xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x3xf32>
    %3 = stablehlo.convert %w : (tensor<3x2xi8>) -> tensor<3x2xf32>
    %4 = stablehlo.constant dense<[2.500000e-01, 5.000000e-01, 1.000000e+00]> : tensor<3xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<3xf32>) -> tensor<3x2xf32>
    %6 = stablehlo.multiply %3, %5 : tensor<3x2xf32>
    %7 = stablehlo.dot_general %2, %6, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %8 = stablehlo.convert %v : (tensor<3x2xi16>) -> tensor<3x2xf32>
    %9 = stablehlo.constant dense<5.000000e-01> : tensor<3x2xf32>
    %10 = stablehlo.multiply %8, %9 : tensor<3x2xf32>
    %11 = stablehlo.dot_general %2, %10, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %12 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %13 = stablehlo.multiply %3, %12 : tensor<3x2xf32>
    %14 = stablehlo.dot_general %2, %13, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    return %7, %11, %14 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
  }
}
