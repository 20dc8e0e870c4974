// run: fold_scales
// Weights on either side, in batches too.
func.func @main(%x: tensor<3x2xf32>, %y: tensor<2x2x3xf64>) -> (tensor<2x3xf32>, tensor<2x3x2xf64>) {
  %w = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %scale = stablehlo.constant dense<[8.0, 64.0]> : tensor<2xf32>
  %v = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]> : tensor<2x2x2xf64>
  %scales = stablehlo.constant dense<[[2.0, 4.0], [8.0, 16.0]]> : tensor<2x2xf64>
  %0 = stablehlo.dot_general %w, %x, contracting_dims = [1] x [1] : (tensor<2x2xf32>, tensor<3x2xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.broadcast_in_dim %scale, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<2x3xf32>
  %3 = stablehlo.dot_general %y, %v, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x2x3xf64>, tensor<2x2x2xf64>) -> tensor<2x3x2xf64>
  %4 = stablehlo.broadcast_in_dim %scales, dims = [0, 2] : (tensor<2x2xf64>) -> tensor<2x3x2xf64>
  %5 = stablehlo.multiply %3, %4 : tensor<2x3x2xf64>
  return %2, %5 : tensor<2x3xf32>, tensor<2x3x2xf64>
}
// ---- expect
module {
  func.func @main(%x: tensor<3x2xf32>, %y: tensor<2x2x3xf64>) -> (tensor<2x3xf32>, tensor<2x3x2xf64>) {
    %0 = stablehlo.constant dense<[[8.000000e+00, 1.600000e+01], [1.920000e+02, 2.560000e+02]]> : tensor<2x2xf32>
    %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [1] : (tensor<2x2xf32>, tensor<3x2xf32>) -> tensor<2x3xf32>
    %2 = stablehlo.constant dense<[[[2.000000e+00, 8.000000e+00], [6.000000e+00, 1.600000e+01]], [[4.000000e+01, 9.600000e+01], [5.600000e+01, 1.280000e+02]]]> : tensor<2x2x2xf64>
    %3 = stablehlo.dot_general %y, %2, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x2x3xf64>, tensor<2x2x2xf64>) -> tensor<2x3x2xf64>
    return %1, %3 : tensor<2x3xf32>, tensor<2x3x2xf64>
  }
}
