// Kernels with names, lines and figures for tools: what format 1.3 added.
func.func @main(%x: tensor<3x8xf32> {ingot.name = "x"}, %w: tensor<8x2xf32> {ingot.state = "w"})
    -> (tensor<3x2xf32> {ingot.name = "y"}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<3x8xf32>, tensor<8x2xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.tanh %0 : tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}
