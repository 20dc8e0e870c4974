// run: fuse, chain_kernels
// Who returns the softmax keeps it in memory: nothing is gained by a chain.
func.func @main(%q: tensor<8x6x4xf32>, %k: tensor<8x6x4xf32>, %v: tensor<8x6x4xf32>) -> (tensor<8x6x4xf32>, tensor<8x6x6xf32>) {
  %m = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x6x4xf32>, tensor<8x6x4xf32>) -> tensor<8x6x6xf32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %max = stablehlo.reduce(%m init: %lowest) applies stablehlo.maximum across dimensions = [2] : (tensor<8x6x6xf32>, tensor<f32>) -> tensor<8x6xf32>
  %maxes = stablehlo.broadcast_in_dim %max, dims = [0, 1] : (tensor<8x6xf32>) -> tensor<8x6x6xf32>
  %less = stablehlo.subtract %m, %maxes : tensor<8x6x6xf32>
  %e = stablehlo.exponential %less : tensor<8x6x6xf32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<8x6x6xf32>, tensor<f32>) -> tensor<8x6xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1] : (tensor<8x6xf32>) -> tensor<8x6x6xf32>
  %p = stablehlo.divide %e, %sums : tensor<8x6x6xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x6x6xf32>, tensor<8x6x4xf32>) -> tensor<8x6x4xf32>
  return %o, %p : tensor<8x6x4xf32>, tensor<8x6x6xf32>
}
// ---- expect
module {
  func.func @main(%q: tensor<8x6x4xf32>, %k: tensor<8x6x4xf32>, %v: tensor<8x6x4xf32>) -> (tensor<8x6x4xf32>, tensor<8x6x6xf32>) {
    %m = "ingot.kernel"(%q, %k) <{name = "f32_dot_general_8x6x6x4"}> ({
    ^bb0(%q_0: tensor<8x6x4xf32>, %k_0: tensor<8x6x4xf32>):
      %m_0 = stablehlo.dot_general %q_0, %k_0, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x6x4xf32>, tensor<8x6x4xf32>) -> tensor<8x6x6xf32>
      ingot.yield %m_0 : tensor<8x6x6xf32>
    }) : (tensor<8x6x4xf32>, tensor<8x6x4xf32>) -> tensor<8x6x6xf32>
    %p = "ingot.kernel"(%m) <{name = "f32_rows_48x6_maximum_subtract_exponential_add_divide"}> ({
    ^bb0(%m_1: tensor<8x6x6xf32>):
      %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %max = stablehlo.reduce(%m_1 init: %lowest) applies stablehlo.maximum across dimensions = [2] : (tensor<8x6x6xf32>, tensor<f32>) -> tensor<8x6xf32>
      %maxes = stablehlo.broadcast_in_dim %max, dims = [0, 1] : (tensor<8x6xf32>) -> tensor<8x6x6xf32>
      %less = stablehlo.subtract %m_1, %maxes : tensor<8x6x6xf32>
      %e = stablehlo.exponential %less : tensor<8x6x6xf32>
      %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<8x6x6xf32>, tensor<f32>) -> tensor<8x6xf32>
      %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1] : (tensor<8x6xf32>) -> tensor<8x6x6xf32>
      %p_0 = stablehlo.divide %e, %sums : tensor<8x6x6xf32>
      ingot.yield %p_0 : tensor<8x6x6xf32>
    }) : (tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
    %o = "ingot.kernel"(%p, %v) <{name = "f32_dot_general_8x6x4x6"}> ({
    ^bb0(%p_1: tensor<8x6x6xf32>, %v_0: tensor<8x6x4xf32>):
      %o_0 = stablehlo.dot_general %p_1, %v_0, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x6x6xf32>, tensor<8x6x4xf32>) -> tensor<8x6x4xf32>
      ingot.yield %o_0 : tensor<8x6x4xf32>
    }) : (tensor<8x6x6xf32>, tensor<8x6x4xf32>) -> tensor<8x6x4xf32>
    return %o, %p : tensor<8x6x4xf32>, tensor<8x6x6xf32>
  }
}
