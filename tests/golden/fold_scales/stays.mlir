// run: fold_scales
// What others read as it is, a scale that differs from row to row, weights that are no constant, one that becomes
// infinite, and a bias by itself.
func.func @main(%x: tensor<3x2xf32>, %u: tensor<2x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) {
  %w = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %w2 = stablehlo.constant dense<[[1.0, 2.0], [3.0, 5.0]]> : tensor<2x2xf32>
  %scale = stablehlo.constant dense<[10.0, 3.0e38]> : tensor<2xf32>
  %two = stablehlo.constant dense<2.0> : tensor<3x2xf32>
  %rows = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.multiply %0, %two : tensor<3x2xf32>
  %2 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %3 = stablehlo.broadcast_in_dim %rows, dims = [0] : (tensor<3xf32>) -> tensor<3x2xf32>
  %4 = stablehlo.multiply %2, %3 : tensor<3x2xf32>
  %5 = stablehlo.dot_general %x, %u, contracting_dims = [1] x [0] : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %6 = stablehlo.multiply %5, %two : tensor<3x2xf32>
  %7 = stablehlo.dot_general %x, %w2, contracting_dims = [1] x [0] : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %8 = stablehlo.broadcast_in_dim %scale, dims = [1] : (tensor<2xf32>) -> tensor<3x2xf32>
  %9 = stablehlo.multiply %7, %8 : tensor<3x2xf32>
  %11 = stablehlo.dot_general %x, %w2, contracting_dims = [1] x [1] : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %10 = stablehlo.add %11, %two : tensor<3x2xf32>
  return %0, %1, %4, %6, %9, %10 : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<3x2xf32>, %u: tensor<2x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) {
    %w = stablehlo.constant dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
    %w2 = stablehlo.constant dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 5.000000e+00]]> : tensor<2x2xf32>
    %scale = stablehlo.constant dense<[1.000000e+01, 3.000000e+38]> : tensor<2xf32>
    %two = stablehlo.constant dense<2.000000e+00> : tensor<3x2xf32>
    %rows = stablehlo.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf32>
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
    %1 = stablehlo.multiply %0, %two : tensor<3x2xf32>
    %2 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
    %3 = stablehlo.broadcast_in_dim %rows, dims = [0] : (tensor<3xf32>) -> tensor<3x2xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<3x2xf32>
    %5 = stablehlo.dot_general %x, %u, contracting_dims = [1] x [0] : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
    %6 = stablehlo.multiply %5, %two : tensor<3x2xf32>
    %7 = stablehlo.dot_general %x, %w2, contracting_dims = [1] x [0] : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
    %8 = stablehlo.broadcast_in_dim %scale, dims = [1] : (tensor<2xf32>) -> tensor<3x2xf32>
    %9 = stablehlo.multiply %7, %8 : tensor<3x2xf32>
    %10 = stablehlo.dot_general %x, %w2, contracting_dims = [1] x [1] : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
    %11 = stablehlo.add %10, %two : tensor<3x2xf32>
    return %0, %1, %4, %6, %9, %11 : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>
  }
}
