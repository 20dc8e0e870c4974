// run: simplify, dce
// Picking one logit of each row, and its gradient, as PyTorch's gather is traced: rows are counted beside the labels.
func.func @main(%x: tensor<8x10xf32>, %labels: tensor<8x1x1xi64>, %u: tensor<8x1xf32>) -> (tensor<8x1xf32>, tensor<8x10xf32>) {
  %rows = stablehlo.iota dim = 0 : tensor<8x1xi64>
  %0 = stablehlo.reshape %rows : (tensor<8x1xi64>) -> tensor<8x1x1xi64>
  %i = stablehlo.concatenate %0, %labels, dim = 2 : (tensor<8x1x1xi64>, tensor<8x1x1xi64>) -> tensor<8x1x2xi64>
  %1 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x10xf32>, tensor<8x1x2xi64>) -> tensor<8x1xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<8x10xf32>
  %2 = "stablehlo.scatter"(%zeros, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>} : (tensor<8x10xf32>, tensor<8x1x2xi64>, tensor<8x1xf32>) -> tensor<8x10xf32>
  return %1, %2 : tensor<8x1xf32>, tensor<8x10xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<8x10xf32>, %labels: tensor<8x1x1xi64>, %u: tensor<8x1xf32>) -> (tensor<8x1xf32>, tensor<8x10xf32>) {
    %0 = "stablehlo.gather"(%x, %labels) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], index_vector_dim = 2, operand_batching_dims = [0], start_index_map = [1], start_indices_batching_dims = [0]>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<8x10xf32>, tensor<8x1x1xi64>) -> tensor<8x1xf32>
    %zeros = stablehlo.constant dense<0.000000e+00> : tensor<8x10xf32>
    %1 = stablehlo.iota dim = 1 : tensor<8x10xi64>
    %2 = stablehlo.reshape %labels : (tensor<8x1x1xi64>) -> tensor<8xi64>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<8xi64>) -> tensor<8x10xi64>
    %4 = stablehlo.compare EQ, %1, %3 : (tensor<8x10xi64>, tensor<8x10xi64>) -> tensor<8x10xi1>
    %5 = stablehlo.reshape %u : (tensor<8x1xf32>) -> tensor<8xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<8xf32>) -> tensor<8x10xf32>
    %7 = stablehlo.select %4, %6, %zeros : tensor<8x10xi1>, tensor<8x10xf32>
    return %0, %7 : tensor<8x1xf32>, tensor<8x10xf32>
  }
}
