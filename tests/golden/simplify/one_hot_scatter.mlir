// run: simplify, dce
// The gradient of picking one logit of each row, as JAX prints it.
func.func @main(%i: tensor<8x1x1xi32>, %u: tensor<8x1xf32>) -> tensor<8x10xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<8x10xf32>
  %0 = "stablehlo.scatter"(%zeros, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x10xf32>, tensor<8x1x1xi32>, tensor<8x1xf32>) -> tensor<8x10xf32>
  return %0 : tensor<8x10xf32>
}
// ---- expect
module {
  func.func @main(%i: tensor<8x1x1xi32>, %u: tensor<8x1xf32>) -> tensor<8x10xf32> {
    %zeros = stablehlo.constant dense<0.000000e+00> : tensor<8x10xf32>
    %0 = stablehlo.iota dim = 1 : tensor<8x10xi32>
    %1 = stablehlo.reshape %i : (tensor<8x1x1xi32>) -> tensor<8xi32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<8xi32>) -> tensor<8x10xi32>
    %3 = stablehlo.compare EQ, %0, %2 : (tensor<8x10xi32>, tensor<8x10xi32>) -> tensor<8x10xi1>
    %4 = stablehlo.constant dense<0.000000e+00> : tensor<8x1xf32>
    %5 = stablehlo.add %u, %4 : tensor<8x1xf32>
    %6 = stablehlo.reshape %5 : (tensor<8x1xf32>) -> tensor<8xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<8xf32>) -> tensor<8x10xf32>
    %8 = stablehlo.select %3, %7, %zeros : tensor<8x10xi1>, tensor<8x10xf32>
    return %8 : tensor<8x10xf32>
  }
}
