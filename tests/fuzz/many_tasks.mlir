// A kernel of one task more than a count of 32 bits holds.
func.func @main(%x: tensor<4294967296x3x5xf32>, %y: tensor<4294967296x5x7xf32>, %sizes: tensor<4xi32>) -> tensor<4294967296x3x7xf32> {
  %0 = "chlo.ragged_dot"(%x, %y, %sizes) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>} : (tensor<4294967296x3x5xf32>, tensor<4294967296x5x7xf32>, tensor<4xi32>) -> tensor<4294967296x3x7xf32>
  return %0 : tensor<4294967296x3x7xf32>
}
