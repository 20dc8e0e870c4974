// One result of a scatter may take the place of what another starts from
module {
  func.func @main(%arg0: tensor<1x1xcomplex<f32>> {ingot.example = dense<[[(0.000000e+00,0.000000e+00)]]> : tensor<1x1xcomplex<f32>>}, %arg1: tensor<1x1xcomplex<f32>> {ingot.example = dense<[[(-5.2129495e-01,-8.736952e-01)]]> : tensor<1x1xcomplex<f32>>}) -> tensor<1x1xcomplex<f32>> {
    %0 = chlo.square %arg1 : tensor<1x1xcomplex<f32>> -> tensor<1x1xcomplex<f32>>
    %1 = stablehlo.convert %0 : (tensor<1x1xcomplex<f32>>) -> tensor<1x1xui32>
    %2 = "stablehlo.scatter"(%0, %1, %arg0) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<index_vector_dim = 1, inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], update_window_dims = [1]>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<complex<f32>>, %arg3: tensor<complex<f32>>):
      stablehlo.return %arg2 : tensor<complex<f32>>
    }) : (tensor<1x1xcomplex<f32>>, tensor<1x1xui32>, tensor<1x1xcomplex<f32>>) -> tensor<1x1xcomplex<f32>>
    return %2 : tensor<1x1xcomplex<f32>>
  }
}
