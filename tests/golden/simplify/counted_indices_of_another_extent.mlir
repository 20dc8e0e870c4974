// run: simplify, dce
// The first eight rows of twelve: no batch.
func.func @main(%x: tensor<12x10xf32>, %labels: tensor<8x1xi64>) -> tensor<8xf32> {
  %rows = stablehlo.iota dim = 0 : tensor<8x1xi64>
  %i = stablehlo.concatenate %rows, %labels, dim = 1 : (tensor<8x1xi64>, tensor<8x1xi64>) -> tensor<8x2xi64>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<12x10xf32>, tensor<8x2xi64>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<12x10xf32>, %labels: tensor<8x1xi64>) -> tensor<8xf32> {
    %rows = stablehlo.iota dim = 0 : tensor<8x1xi64>
    %i = stablehlo.concatenate %rows, %labels, dim = 1 : (tensor<8x1xi64>, tensor<8x1xi64>) -> tensor<8x2xi64>
    %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], index_vector_dim = 1, start_index_map = [0, 1]>, slice_sizes = array<i64: 1, 1>}> : (tensor<12x10xf32>, tensor<8x2xi64>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
