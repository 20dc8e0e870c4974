// run: mark_triangles
// Scores that a mask hides, products by probabilities that are 0 there, and the same of their gradients.
func.func @main(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %g: tensor<2x8x4xf32>) -> (tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>) {
  %i = stablehlo.iota dim = 0 : tensor<8x8xi32>
  %j = stablehlo.iota dim = 1 : tensor<8x8xi32>
  %seen = stablehlo.compare GE, %i, %j : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
  %mask = stablehlo.broadcast_in_dim %seen, dims = [1, 2] : (tensor<8x8xi1>) -> tensor<2x8x8xi1>
  %hidden = stablehlo.constant dense<0xFF800000> : tensor<2x8x8xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<2x8x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %scores = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<2x8x8xf32>
  %masked = stablehlo.select %mask, %scores, %hidden : tensor<2x8x8xi1>, tensor<2x8x8xf32>
  %top = stablehlo.reduce(%masked init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<2x8x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %tops = stablehlo.broadcast_in_dim %top, dims = [0, 1] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
  %below = stablehlo.subtract %masked, %tops : tensor<2x8x8xf32>
  %e = stablehlo.exponential %below : tensor<2x8x8xf32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x8x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
  %p = stablehlo.divide %e, %sums : tensor<2x8x8xf32>
  %out = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x8x8xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %dv = stablehlo.dot_general %p, %g, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x8x8xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %dp = stablehlo.dot_general %g, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<2x8x8xf32>
  %w = stablehlo.multiply %dp, %p : tensor<2x8x8xf32>
  %t = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x8x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %ts = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
  %u = stablehlo.subtract %dp, %ts : tensor<2x8x8xf32>
  %pu = stablehlo.multiply %u, %p : tensor<2x8x8xf32>
  %ds = stablehlo.select %mask, %pu, %zeros : tensor<2x8x8xi1>, tensor<2x8x8xf32>
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x8x8xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x8x8xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  return %out, %dq, %dk, %dv : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>
}
// ---- expect
module {
  func.func @main(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %g: tensor<2x8x4xf32>) -> (tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>) {
    %i = stablehlo.iota dim = 0 : tensor<8x8xi32>
    %j = stablehlo.iota dim = 1 : tensor<8x8xi32>
    %seen = stablehlo.compare GE, %i, %j : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %mask = stablehlo.broadcast_in_dim %seen, dims = [1, 2] : (tensor<8x8xi1>) -> tensor<2x8x8xi1>
    %hidden = stablehlo.constant dense<0xFF800000> : tensor<2x8x8xf32>
    %zeros = stablehlo.constant dense<0.000000e+00> : tensor<2x8x8xf32>
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %scores = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] {ingot.triangles = array<i64: 2, 1, 0>} : (tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<2x8x8xf32>
    %masked = stablehlo.select %mask, %scores, %hidden : tensor<2x8x8xi1>, tensor<2x8x8xf32>
    %top = stablehlo.reduce(%masked init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<2x8x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %tops = stablehlo.broadcast_in_dim %top, dims = [0, 1] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
    %below = stablehlo.subtract %masked, %tops : tensor<2x8x8xf32>
    %e = stablehlo.exponential %below : tensor<2x8x8xf32>
    %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x8x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
    %p = stablehlo.divide %e, %sums : tensor<2x8x8xf32>
    %out = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] {ingot.triangles = array<i64: 3, 1, 0>} : (tensor<2x8x8xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
    %dv = stablehlo.dot_general %p, %g, batching_dims = [0] x [0], contracting_dims = [1] x [1] {ingot.triangles = array<i64: 1, 3, 0>} : (tensor<2x8x8xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
    %dp = stablehlo.dot_general %g, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] {ingot.triangles = array<i64: 2, 1, 0>} : (tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<2x8x8xf32>
    %w = stablehlo.multiply %dp, %p : tensor<2x8x8xf32>
    %t = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x8x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %ts = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
    %u = stablehlo.subtract %dp, %ts : tensor<2x8x8xf32>
    %pu = stablehlo.multiply %u, %p : tensor<2x8x8xf32>
    %ds = stablehlo.select %mask, %pu, %zeros : tensor<2x8x8xi1>, tensor<2x8x8xf32>
    %dq = stablehlo.dot_general %ds, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] {ingot.triangles = array<i64: 3, 1, 0>} : (tensor<2x8x8xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
    %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] {ingot.triangles = array<i64: 1, 3, 0>} : (tensor<2x8x8xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
    return %out, %dq, %dk, %dv : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>
  }
}
