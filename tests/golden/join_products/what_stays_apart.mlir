// run: join_products
// The first two products fit each other. The third is so deep that adding it to others is little beside it, the fourth
// has its depth elsewhere, the fifth is read twice. Sums of bf16 are rounded where products are not.
func.func @main(%x: tensor<4x3xi32>, %w: tensor<3x4xi32>, %y: tensor<4x300xi32>, %v: tensor<300x4xi32>, %z: tensor<4x700xi32>, %u: tensor<700x4xi32>, %s: tensor<4x3xbf16>, %t: tensor<3x4xbf16>) -> (tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xbf16>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x3xi32>, tensor<3x4xi32>) -> tensor<4x4xi32>
  %1 = stablehlo.dot_general %y, %v, contracting_dims = [1] x [0] : (tensor<4x300xi32>, tensor<300x4xi32>) -> tensor<4x4xi32>
  %2 = stablehlo.dot_general %z, %u, contracting_dims = [1] x [0] : (tensor<4x700xi32>, tensor<700x4xi32>) -> tensor<4x4xi32>
  %3 = stablehlo.dot_general %w, %x, contracting_dims = [0] x [1] : (tensor<3x4xi32>, tensor<4x3xi32>) -> tensor<4x4xi32>
  %4 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x3xi32>, tensor<3x4xi32>) -> tensor<4x4xi32>
  %5 = stablehlo.add %0, %1 : tensor<4x4xi32>
  %6 = stablehlo.add %2, %3 : tensor<4x4xi32>
  %7 = stablehlo.add %6, %4 : tensor<4x4xi32>
  %8 = stablehlo.add %5, %7 : tensor<4x4xi32>
  %9 = stablehlo.dot_general %s, %t, contracting_dims = [1] x [0] : (tensor<4x3xbf16>, tensor<3x4xbf16>) -> tensor<4x4xbf16>
  %10 = stablehlo.dot_general %s, %t, contracting_dims = [1] x [0] : (tensor<4x3xbf16>, tensor<3x4xbf16>) -> tensor<4x4xbf16>
  %11 = stablehlo.add %9, %10 : tensor<4x4xbf16>
  return %8, %4, %11 : tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xbf16>
}
// ---- expect
module {
  func.func @main(%x: tensor<4x3xi32>, %w: tensor<3x4xi32>, %y: tensor<4x300xi32>, %v: tensor<300x4xi32>, %z: tensor<4x700xi32>, %u: tensor<700x4xi32>, %s: tensor<4x3xbf16>, %t: tensor<3x4xbf16>) -> (tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xbf16>) {
    %0 = stablehlo.dot_general %z, %u, contracting_dims = [1] x [0] : (tensor<4x700xi32>, tensor<700x4xi32>) -> tensor<4x4xi32>
    %1 = stablehlo.dot_general %w, %x, contracting_dims = [0] x [1] : (tensor<3x4xi32>, tensor<4x3xi32>) -> tensor<4x4xi32>
    %2 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x3xi32>, tensor<3x4xi32>) -> tensor<4x4xi32>
    %3 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<4x3xi32>, tensor<4x300xi32>) -> tensor<4x303xi32>
    %4 = stablehlo.concatenate %w, %v, dim = 0 : (tensor<3x4xi32>, tensor<300x4xi32>) -> tensor<303x4xi32>
    %5 = stablehlo.dot_general %3, %4, contracting_dims = [1] x [0] : (tensor<4x303xi32>, tensor<303x4xi32>) -> tensor<4x4xi32>
    %6 = stablehlo.add %5, %0 : tensor<4x4xi32>
    %7 = stablehlo.add %6, %1 : tensor<4x4xi32>
    %8 = stablehlo.add %7, %2 : tensor<4x4xi32>
    %9 = stablehlo.dot_general %s, %t, contracting_dims = [1] x [0] : (tensor<4x3xbf16>, tensor<3x4xbf16>) -> tensor<4x4xbf16>
    %10 = stablehlo.dot_general %s, %t, contracting_dims = [1] x [0] : (tensor<4x3xbf16>, tensor<3x4xbf16>) -> tensor<4x4xbf16>
    %11 = stablehlo.add %9, %10 : tensor<4x4xbf16>
    return %8, %2, %11 : tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xbf16>
  }
}
