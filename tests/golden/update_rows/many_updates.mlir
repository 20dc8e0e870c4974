// run: update_rows
// Many updates of few rows stay as they are: they are added up first.
func.func @main(%table: tensor<10x4xf32>, %rows: tensor<5x1xi32>, %u: tensor<5x4xf32>, %rate: tensor<f32>) -> tensor<10x4xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<10x4xf32>
  %0 = "stablehlo.scatter"(%zeros, %rows, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<10x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<10x4xf32>
  %1 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<10x4xf32>
  %half = stablehlo.constant dense<0.5> : tensor<10x4xf32>
  %2 = stablehlo.multiply %half, %0 : tensor<10x4xf32>
  %3 = stablehlo.multiply %2, %1 : tensor<10x4xf32>
  %4 = stablehlo.subtract %table, %3 : tensor<10x4xf32>
  return %4 : tensor<10x4xf32>
}
// ---- expect
module {
  func.func @main(%table: tensor<10x4xf32>, %rows: tensor<5x1xi32>, %u: tensor<5x4xf32>, %rate: tensor<f32>) -> tensor<10x4xf32> {
    %zeros = stablehlo.constant dense<0.000000e+00> : tensor<10x4xf32>
    %0 = "stablehlo.scatter"(%zeros, %rows, %u) <{scatter_dimension_numbers = #stablehlo.scatter<index_vector_dim = 1, inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], update_window_dims = [1]>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<10x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<10x4xf32>
    %1 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<10x4xf32>
    %half = stablehlo.constant dense<5.000000e-01> : tensor<10x4xf32>
    %2 = stablehlo.multiply %half, %0 : tensor<10x4xf32>
    %3 = stablehlo.multiply %2, %1 : tensor<10x4xf32>
    %4 = stablehlo.subtract %table, %3 : tensor<10x4xf32>
    return %4 : tensor<10x4xf32>
  }
}
