// run: split_products
// Attention of one token over keys and values of a cache and its own: both are read where they lie.
func.func @main(%q: tensor<2x1x64xi32>, %k: tensor<2x40x64xi32>, %new_k: tensor<2x1x64xi32>, %v: tensor<2x40x64xi32>, %new_v: tensor<2x1x64xi32>) -> tensor<2x1x64xi32> {
  %0 = stablehlo.concatenate %k, %new_k, dim = 1 : (tensor<2x40x64xi32>, tensor<2x1x64xi32>) -> tensor<2x41x64xi32>
  %1 = stablehlo.concatenate %v, %new_v, dim = 1 : (tensor<2x40x64xi32>, tensor<2x1x64xi32>) -> tensor<2x41x64xi32>
  %2 = stablehlo.dot_general %q, %0, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x1x64xi32>, tensor<2x41x64xi32>) -> tensor<2x1x41xi32>
  %3 = stablehlo.dot_general %2, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x1x41xi32>, tensor<2x41x64xi32>) -> tensor<2x1x64xi32>
  return %3 : tensor<2x1x64xi32>
}
// ---- expect
module {
  func.func @main(%q: tensor<2x1x64xi32>, %k: tensor<2x40x64xi32>, %new_k: tensor<2x1x64xi32>, %v: tensor<2x40x64xi32>, %new_v: tensor<2x1x64xi32>) -> tensor<2x1x64xi32> {
    %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x1x64xi32>, tensor<2x40x64xi32>) -> tensor<2x1x40xi32>
    %1 = stablehlo.dot_general %q, %new_k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x1x64xi32>, tensor<2x1x64xi32>) -> tensor<2x1x1xi32>
    %2 = stablehlo.concatenate %0, %1, dim = 2 : (tensor<2x1x40xi32>, tensor<2x1x1xi32>) -> tensor<2x1x41xi32>
    %3 = stablehlo.slice %2 [0:2, 0:1, 0:40] : (tensor<2x1x41xi32>) -> tensor<2x1x40xi32>
    %4 = stablehlo.dot_general %3, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x1x40xi32>, tensor<2x40x64xi32>) -> tensor<2x1x64xi32>
    %5 = stablehlo.slice %2 [0:2, 0:1, 40:41] : (tensor<2x1x41xi32>) -> tensor<2x1x1xi32>
    %6 = stablehlo.dot_general %5, %new_v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x1x1xi32>, tensor<2x1x64xi32>) -> tensor<2x1x64xi32>
    %7 = stablehlo.add %4, %6 : tensor<2x1x64xi32>
    return %7 : tensor<2x1x64xi32>
  }
}
