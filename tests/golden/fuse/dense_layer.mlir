// run: fuse
// The bias and the activation are the dot's epilogue.
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<8x4xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x4xf32>
  %3 = stablehlo.maximum %2, %zero : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
    %0 = "ingot.kernel"(%x, %w, %b) <{name = "f32_dot_general_8x4x16_add_maximum"}> ({
    ^bb0(%x_0: tensor<8x16xf32>, %w_0: tensor<16x4xf32>, %b_0: tensor<4xf32>):
      %zero = stablehlo.constant dense<0.000000e+00> : tensor<8x4xf32>
      %1 = stablehlo.dot_general %x_0, %w_0, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
      %2 = stablehlo.broadcast_in_dim %b_0, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
      %3 = stablehlo.add %1, %2 : tensor<8x4xf32>
      %4 = stablehlo.maximum %3, %zero : tensor<8x4xf32>
      ingot.yield %4 : tensor<8x4xf32>
    }) : (tensor<8x16xf32>, tensor<16x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}
