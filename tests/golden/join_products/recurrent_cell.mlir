// run: join_products
// x W + b + h U is one product; what a sum adds up stays in its order.
func.func @main(%x: tensor<8x3xi32>, %w: tensor<3x16xi32>, %h: tensor<8x4xi32>, %u: tensor<4x16xi32>, %b: tensor<8x16xi32>, %c: tensor<8x16xi32>) -> tensor<8x16xi32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x3xi32>, tensor<3x16xi32>) -> tensor<8x16xi32>
  %1 = stablehlo.dot_general %h, %u, contracting_dims = [1] x [0] : (tensor<8x4xi32>, tensor<4x16xi32>) -> tensor<8x16xi32>
  %2 = stablehlo.add %b, %0 : tensor<8x16xi32>
  %3 = stablehlo.add %2, %c : tensor<8x16xi32>
  %4 = stablehlo.add %3, %1 : tensor<8x16xi32>
  return %4 : tensor<8x16xi32>
}
// ---- expect
module {
  func.func @main(%x: tensor<8x3xi32>, %w: tensor<3x16xi32>, %h: tensor<8x4xi32>, %u: tensor<4x16xi32>, %b: tensor<8x16xi32>, %c: tensor<8x16xi32>) -> tensor<8x16xi32> {
    %0 = stablehlo.concatenate %x, %h, dim = 1 : (tensor<8x3xi32>, tensor<8x4xi32>) -> tensor<8x7xi32>
    %1 = stablehlo.concatenate %w, %u, dim = 0 : (tensor<3x16xi32>, tensor<4x16xi32>) -> tensor<7x16xi32>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<8x7xi32>, tensor<7x16xi32>) -> tensor<8x16xi32>
    %3 = stablehlo.add %b, %2 : tensor<8x16xi32>
    %4 = stablehlo.add %3, %c : tensor<8x16xi32>
    return %4 : tensor<8x16xi32>
  }
}
