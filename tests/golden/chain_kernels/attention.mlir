// run: fuse, chain_kernels
// Scores, their softmax and the product with the values are one kernel, a place of the batch a block. The mask is computed
// where it is read.
func.func @main(%q: tensor<8x6x4xf32>, %k: tensor<8x6x4xf32>, %v: tensor<8x6x4xf32>) -> tensor<8x6x4xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x6x4xf32>, tensor<8x6x4xf32>) -> tensor<8x6x6xf32>
  %row = stablehlo.iota dim = 0 : tensor<6x6xi32>
  %column = stablehlo.iota dim = 1 : tensor<6x6xi32>
  %seen = stablehlo.compare GE, %row, %column : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
  %all = stablehlo.broadcast_in_dim %seen, dims = [1, 2] : (tensor<6x6xi1>) -> tensor<8x6x6xi1>
  %low = stablehlo.constant dense<-1.0e9> : tensor<8x6x6xf32>
  %m = stablehlo.select %all, %s, %low : tensor<8x6x6xi1>, tensor<8x6x6xf32>
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
  return %o : tensor<8x6x4xf32>
}
// ---- expect
module {
  func.func @main(%q: tensor<8x6x4xf32>, %k: tensor<8x6x4xf32>, %v: tensor<8x6x4xf32>) -> tensor<8x6x4xf32> {
    %o = "ingot.kernel"(%q, %k, %v) <{block_axes = array<i64: 0, 1, -1>, blocks = array<i64: 1, 6>, name = "chain_f32_dot_general_8x6x6x4_and_3"}> ({
    ^bb0(%q_0: tensor<8x6x4xf32>, %k_0: tensor<8x6x4xf32>, %v_0: tensor<8x6x4xf32>):
      %s = stablehlo.dot_general %q_0, %k_0, batching_dims = [0] x [0], contracting_dims = [2] x [2] {ingot.stage = 0 : i64} : (tensor<8x6x4xf32>, tensor<8x6x4xf32>) -> tensor<8x6x6xf32>
      %row = stablehlo.iota dim = 0 : tensor<6x6xi32>
      %column = stablehlo.iota dim = 1 : tensor<6x6xi32>
      %seen = stablehlo.compare GE, %row, %column : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
      %all = stablehlo.broadcast_in_dim %seen, dims = [1, 2] : (tensor<6x6xi1>) -> tensor<8x6x6xi1>
      %low = stablehlo.constant dense<-1.000000e+09> : tensor<8x6x6xf32>
      %m = stablehlo.select %all, %s, %low : tensor<8x6x6xi1>, tensor<8x6x6xf32>
      %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %max = stablehlo.reduce(%m init: %lowest) applies stablehlo.maximum across dimensions = [2] : (tensor<8x6x6xf32>, tensor<f32>) -> tensor<8x6xf32>
      %maxes = stablehlo.broadcast_in_dim %max, dims = [0, 1] : (tensor<8x6xf32>) -> tensor<8x6x6xf32>
      %less = stablehlo.subtract %m, %maxes : tensor<8x6x6xf32>
      %e = stablehlo.exponential %less : tensor<8x6x6xf32>
      %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<8x6x6xf32>, tensor<f32>) -> tensor<8x6xf32>
      %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1] : (tensor<8x6xf32>) -> tensor<8x6x6xf32>
      %p = stablehlo.divide %e, %sums {ingot.stage = 2 : i64} : tensor<8x6x6xf32>
      %o_0 = stablehlo.dot_general %p, %v_0, batching_dims = [0] x [0], contracting_dims = [2] x [1] {ingot.stage = 3 : i64} : (tensor<8x6x6xf32>, tensor<8x6x4xf32>) -> tensor<8x6x4xf32>
      ingot.yield %o_0 : tensor<8x6x4xf32>
    }) : (tensor<8x6x4xf32>, tensor<8x6x4xf32>, tensor<8x6x4xf32>) -> tensor<8x6x4xf32>
    return %o : tensor<8x6x4xf32>
  }
}
