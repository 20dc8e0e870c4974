// run: mark_triangles
// One predicate and one pair of bounds for all elements, beside a mask.
func.func @main(%x: tensor<8x6xf32>, %y: tensor<6x8xf32>, %is_scaled: tensor<i1>, %most: tensor<f32>) -> tensor<8x8xf32> {
  %i = stablehlo.iota dim = 0 : tensor<8x8xi32>
  %j = stablehlo.iota dim = 1 : tensor<8x8xi32>
  %seen = stablehlo.compare GE, %i, %j : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
  %zeros = stablehlo.constant dense<0.0> : tensor<8x8xf32>
  %half = stablehlo.constant dense<0.5> : tensor<8x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %product = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
  %scaled = stablehlo.multiply %product, %half : tensor<8x8xf32>
  %chosen = stablehlo.select %is_scaled, %scaled, %product : tensor<i1>, tensor<8x8xf32>
  %lower = stablehlo.select %seen, %chosen, %zeros : tensor<8x8xi1>, tensor<8x8xf32>
  %clamped = stablehlo.clamp %zero, %lower, %most : (tensor<f32>, tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  return %clamped : tensor<8x8xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<8x6xf32>, %y: tensor<6x8xf32>, %is_scaled: tensor<i1>, %most: tensor<f32>) -> tensor<8x8xf32> {
    %i = stablehlo.iota dim = 0 : tensor<8x8xi32>
    %j = stablehlo.iota dim = 1 : tensor<8x8xi32>
    %seen = stablehlo.compare GE, %i, %j : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %zeros = stablehlo.constant dense<0.000000e+00> : tensor<8x8xf32>
    %half = stablehlo.constant dense<5.000000e-01> : tensor<8x8xf32>
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %product = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] {ingot.triangles = array<i64: 1, 0, 0>} : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
    %scaled = stablehlo.multiply %product, %half : tensor<8x8xf32>
    %chosen = stablehlo.select %is_scaled, %scaled, %product : tensor<i1>, tensor<8x8xf32>
    %lower = stablehlo.select %seen, %chosen, %zeros : tensor<8x8xi1>, tensor<8x8xf32>
    %clamped = stablehlo.clamp %zero, %lower, %most : (tensor<f32>, tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
    return %clamped : tensor<8x8xf32>
  }
}
