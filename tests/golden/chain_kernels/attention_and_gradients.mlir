// run: fuse, chain_kernels
// The gradients read the softmax again, much later. Its scores are four times as large as what they are made of: they are
// made again in the chain of the gradients, and no tensor of their size is in memory. What is a sum over rows is made of
// all rows of a block.
func.func @main(%q: tensor<8x16x2xf32>, %k: tensor<8x16x2xf32>, %v: tensor<8x16x2xf32>) -> (tensor<8x16x2xf32>, tensor<8x16x2xf32>, tensor<8x16x2xf32>) {
  %m = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x16x2xf32>, tensor<8x16x2xf32>) -> tensor<8x16x16xf32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %max = stablehlo.reduce(%m init: %lowest) applies stablehlo.maximum across dimensions = [2] : (tensor<8x16x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  %maxes = stablehlo.broadcast_in_dim %max, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x16xf32>
  %less = stablehlo.subtract %m, %maxes : tensor<8x16x16xf32>
  %e = stablehlo.exponential %less : tensor<8x16x16xf32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<8x16x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x16xf32>
  %p = stablehlo.divide %e, %sums : tensor<8x16x16xf32>
  %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x16x16xf32>, tensor<8x16x2xf32>) -> tensor<8x16x2xf32>
  %do = stablehlo.tanh %o : tensor<8x16x2xf32>
  %dv = stablehlo.dot_general %p, %do, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<8x16x16xf32>, tensor<8x16x2xf32>) -> tensor<8x16x2xf32>
  %dp = stablehlo.dot_general %do, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x16x2xf32>, tensor<8x16x2xf32>) -> tensor<8x16x16xf32>
  %pdp = stablehlo.multiply %p, %dp : tensor<8x16x16xf32>
  %dot = stablehlo.reduce(%pdp init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<8x16x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  %dots = stablehlo.broadcast_in_dim %dot, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x16xf32>
  %apart = stablehlo.subtract %dp, %dots : tensor<8x16x16xf32>
  %ds = stablehlo.multiply %p, %apart : tensor<8x16x16xf32>
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x16x16xf32>, tensor<8x16x2xf32>) -> tensor<8x16x2xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<8x16x16xf32>, tensor<8x16x2xf32>) -> tensor<8x16x2xf32>
  return %dq, %dk, %dv : tensor<8x16x2xf32>, tensor<8x16x2xf32>, tensor<8x16x2xf32>
}
// ---- expect
module {
  func.func @main(%q: tensor<8x16x2xf32>, %k: tensor<8x16x2xf32>, %v: tensor<8x16x2xf32>) -> (tensor<8x16x2xf32>, tensor<8x16x2xf32>, tensor<8x16x2xf32>) {
    %sum:2, %do, %dv = "ingot.kernel"(%q, %k, %v) <{block_axes = array<i64: 0, -1, 0, -1, 0, -1, -1, 0, -1, -1>, blocks = array<i64: 1>, name = "chain_f32_dot_general_8x16x16x2_and_3"}> ({
    ^bb0(%q_0: tensor<8x16x2xf32>, %k_0: tensor<8x16x2xf32>, %v_0: tensor<8x16x2xf32>):
      %m = stablehlo.dot_general %q_0, %k_0, batching_dims = [0] x [0], contracting_dims = [2] x [2] {ingot.stage = 0 : i64} : (tensor<8x16x2xf32>, tensor<8x16x2xf32>) -> tensor<8x16x16xf32>
      %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %max = stablehlo.reduce(%m init: %lowest) applies stablehlo.maximum across dimensions = [2] {ingot.stage = 1 : i64} : (tensor<8x16x16xf32>, tensor<f32>) -> tensor<8x16xf32>
      %maxes = stablehlo.broadcast_in_dim %max, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x16xf32>
      %less = stablehlo.subtract %m, %maxes : tensor<8x16x16xf32>
      %e = stablehlo.exponential %less {ingot.stage = 1 : i64} : tensor<8x16x16xf32>
      %sum_0 = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] {ingot.stage = 1 : i64} : (tensor<8x16x16xf32>, tensor<f32>) -> tensor<8x16xf32>
      %sums = stablehlo.broadcast_in_dim %sum_0, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x16xf32>
      %p = stablehlo.divide %e, %sums {ingot.stage = 1 : i64} : tensor<8x16x16xf32>
      %o = stablehlo.dot_general %p, %v_0, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x16x16xf32>, tensor<8x16x2xf32>) -> tensor<8x16x2xf32>
      %do_0 = stablehlo.tanh %o {ingot.stage = 2 : i64} : tensor<8x16x2xf32>
      %dv_0 = stablehlo.dot_general %p, %do_0, batching_dims = [0] x [0], contracting_dims = [1] x [1] {ingot.stage = 3 : i64} : (tensor<8x16x16xf32>, tensor<8x16x2xf32>) -> tensor<8x16x2xf32>
      ingot.yield %sum_0, %max, %do_0, %dv_0 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16x2xf32>, tensor<8x16x2xf32>
    }) : (tensor<8x16x2xf32>, tensor<8x16x2xf32>, tensor<8x16x2xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16x2xf32>, tensor<8x16x2xf32>)
    %dq, %dk = "ingot.kernel"(%do, %v, %q, %k, %sum#1, %sum#0) <{block_axes = array<i64: 0, -1, -1, 0, -1, -1>, blocks = array<i64: 1>, name = "chain_f32_dot_general_8x16x16x2_and_5"}> ({
    ^bb0(%do_1: tensor<8x16x2xf32>, %v_1: tensor<8x16x2xf32>, %q_1: tensor<8x16x2xf32>, %k_1: tensor<8x16x2xf32>, %arg4: tensor<8x16xf32>, %sum_1: tensor<8x16xf32>):
      %dp = stablehlo.dot_general %do_1, %v_1, batching_dims = [0] x [0], contracting_dims = [2] x [2] {ingot.stage = 0 : i64} : (tensor<8x16x2xf32>, tensor<8x16x2xf32>) -> tensor<8x16x16xf32>
      %m_0 = stablehlo.dot_general %q_1, %k_1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x16x2xf32>, tensor<8x16x2xf32>) -> tensor<8x16x16xf32>
      %maxes_0 = stablehlo.broadcast_in_dim %arg4, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x16xf32>
      %less_0 = stablehlo.subtract %m_0, %maxes_0 : tensor<8x16x16xf32>
      %e_0 = stablehlo.exponential %less_0 {ingot.stage = 2 : i64} : tensor<8x16x16xf32>
      %zero_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %sums_0 = stablehlo.broadcast_in_dim %sum_1, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x16xf32>
      %p_0 = stablehlo.divide %e_0, %sums_0 : tensor<8x16x16xf32>
      %pdp = stablehlo.multiply %p_0, %dp : tensor<8x16x16xf32>
      %dot = stablehlo.reduce(%pdp init: %zero_0) applies stablehlo.add across dimensions = [2] : (tensor<8x16x16xf32>, tensor<f32>) -> tensor<8x16xf32>
      %dots = stablehlo.broadcast_in_dim %dot, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x16xf32>
      %apart = stablehlo.subtract %dp, %dots : tensor<8x16x16xf32>
      %ds = stablehlo.multiply %p_0, %apart {ingot.stage = 3 : i64} : tensor<8x16x16xf32>
      %dq_0 = stablehlo.dot_general %ds, %k_1, batching_dims = [0] x [0], contracting_dims = [2] x [1] {ingot.stage = 4 : i64} : (tensor<8x16x16xf32>, tensor<8x16x2xf32>) -> tensor<8x16x2xf32>
      %dk_0 = stablehlo.dot_general %ds, %q_1, batching_dims = [0] x [0], contracting_dims = [1] x [1] {ingot.stage = 5 : i64} : (tensor<8x16x16xf32>, tensor<8x16x2xf32>) -> tensor<8x16x2xf32>
      ingot.yield %dq_0, %dk_0 : tensor<8x16x2xf32>, tensor<8x16x2xf32>
    }) : (tensor<8x16x2xf32>, tensor<8x16x2xf32>, tensor<8x16x2xf32>, tensor<8x16x2xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> (tensor<8x16x2xf32>, tensor<8x16x2xf32>)
    return %dq, %dk, %dv : tensor<8x16x2xf32>, tensor<8x16x2xf32>, tensor<8x16x2xf32>
  }
}
