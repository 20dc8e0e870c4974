// run: fuse
// The weight gradient never exists: momentum and weight are stored by the dot's epilogue.
func.func @main(%x: tensor<8x16xf32>, %dy: tensor<8x4xf32>, %w: tensor<16x4xf32>, %m: tensor<16x4xf32>, %lr: tensor<f32>) -> (tensor<16x4xf32>, tensor<16x4xf32>) {
  %beta = stablehlo.constant dense<0.9> : tensor<16x4xf32>
  %0 = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] : (tensor<8x16xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  %1 = stablehlo.multiply %m, %beta : tensor<16x4xf32>
  %2 = stablehlo.add %1, %0 : tensor<16x4xf32>
  %3 = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f32>) -> tensor<16x4xf32>
  %4 = stablehlo.multiply %2, %3 : tensor<16x4xf32>
  %5 = stablehlo.subtract %w, %4 : tensor<16x4xf32>
  return %2, %5 : tensor<16x4xf32>, tensor<16x4xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<8x16xf32>, %dy: tensor<8x4xf32>, %w: tensor<16x4xf32>, %m: tensor<16x4xf32>, %lr: tensor<f32>) -> (tensor<16x4xf32>, tensor<16x4xf32>) {
    %0:2 = "ingot.kernel"(%x, %dy, %m, %lr, %w) <{name = "f32_dot_general_16x4x8_multiply_add_multiply_subtract"}> ({
    ^bb0(%x_0: tensor<8x16xf32>, %dy_0: tensor<8x4xf32>, %m_0: tensor<16x4xf32>, %lr_0: tensor<f32>, %w_0: tensor<16x4xf32>):
      %beta = stablehlo.constant dense<9.000000e-01> : tensor<16x4xf32>
      %1 = stablehlo.dot_general %x_0, %dy_0, contracting_dims = [0] x [0] : (tensor<8x16xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
      %2 = stablehlo.multiply %m_0, %beta : tensor<16x4xf32>
      %3 = stablehlo.add %2, %1 : tensor<16x4xf32>
      %4 = stablehlo.broadcast_in_dim %lr_0, dims = [] : (tensor<f32>) -> tensor<16x4xf32>
      %5 = stablehlo.multiply %3, %4 : tensor<16x4xf32>
      %6 = stablehlo.subtract %w_0, %5 : tensor<16x4xf32>
      ingot.yield %3, %6 : tensor<16x4xf32>, tensor<16x4xf32>
    }) : (tensor<8x16xf32>, tensor<8x4xf32>, tensor<16x4xf32>, tensor<f32>, tensor<16x4xf32>) -> (tensor<16x4xf32>, tensor<16x4xf32>)
    return %0#0, %0#1 : tensor<16x4xf32>, tensor<16x4xf32>
  }
}
