// run: fuse
// A product reads operands that are joined along its depth from where they lie; what is made for it alone is joined in
// memory.
func.func @main(%x: tensor<8x3xf32>, %h: tensor<8x4xf32>, %w: tensor<7x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = stablehlo.concatenate %x, %h, dim = 1 : (tensor<8x3xf32>, tensor<8x4xf32>) -> tensor<8x7xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<8x7xf32>, tensor<7x16xf32>) -> tensor<8x16xf32>
  %2 = stablehlo.tanh %h : tensor<8x4xf32>
  %3 = stablehlo.concatenate %x, %2, dim = 1 : (tensor<8x3xf32>, tensor<8x4xf32>) -> tensor<8x7xf32>
  %4 = stablehlo.dot_general %3, %w, contracting_dims = [1] x [0] : (tensor<8x7xf32>, tensor<7x16xf32>) -> tensor<8x16xf32>
  return %1, %4 : tensor<8x16xf32>, tensor<8x16xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<8x3xf32>, %h: tensor<8x4xf32>, %w: tensor<7x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
    %0 = "ingot.kernel"(%x, %h, %w) <{name = "f32_dot_general_8x16x7"}> ({
    ^bb0(%x_0: tensor<8x3xf32>, %h_0: tensor<8x4xf32>, %w_0: tensor<7x16xf32>):
      %1 = stablehlo.concatenate %x_0, %h_0, dim = 1 : (tensor<8x3xf32>, tensor<8x4xf32>) -> tensor<8x7xf32>
      %2 = stablehlo.dot_general %1, %w_0, contracting_dims = [1] x [0] : (tensor<8x7xf32>, tensor<7x16xf32>) -> tensor<8x16xf32>
      ingot.yield %2 : tensor<8x16xf32>
    }) : (tensor<8x3xf32>, tensor<8x4xf32>, tensor<7x16xf32>) -> tensor<8x16xf32>
    %3 = "ingot.kernel"(%h, %x) <{name = "f32_8x7_tanh"}> ({
    ^bb0(%h_1: tensor<8x4xf32>, %x_1: tensor<8x3xf32>):
      %4 = stablehlo.tanh %h_1 : tensor<8x4xf32>
      %5 = stablehlo.concatenate %x_1, %4, dim = 1 : (tensor<8x3xf32>, tensor<8x4xf32>) -> tensor<8x7xf32>
      ingot.yield %5 : tensor<8x7xf32>
    }) : (tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<8x7xf32>
    %6 = "ingot.kernel"(%3, %w) <{name = "f32_dot_general_8x16x7"}> ({
    ^bb0(%arg0: tensor<8x7xf32>, %w_1: tensor<7x16xf32>):
      %7 = stablehlo.dot_general %arg0, %w_1, contracting_dims = [1] x [0] : (tensor<8x7xf32>, tensor<7x16xf32>) -> tensor<8x16xf32>
      ingot.yield %7 : tensor<8x16xf32>
    }) : (tensor<8x7xf32>, tensor<7x16xf32>) -> tensor<8x16xf32>
    return %0, %6 : tensor<8x16xf32>, tensor<8x16xf32>
  }
}
