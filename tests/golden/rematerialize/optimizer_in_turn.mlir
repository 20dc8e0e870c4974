// run: rematerialize
// An optimizer that is written one op over all parameters after the other: its chains are not copied, so that they stay in
// the kernels of the gradients. What is computed again is an activation.
func.func @main(%a: tensor<8x16xf32>, %w: tensor<16x16xf32>, %v: tensor<16x16xf32>, %mw: tensor<16x16xf32>, %mv: tensor<16x16xf32>, %left: tensor<f32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
  %x = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %t = stablehlo.tanh %x : tensor<8x16xf32>
  %s = stablehlo.sine %t : tensor<8x16xf32>
  %z = stablehlo.dot_general %s, %v, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %dz = stablehlo.dot_general %z, %v, contracting_dims = [1] x [1] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %u = stablehlo.multiply %s, %dz : tensor<8x16xf32>
  %p = stablehlo.multiply %t, %u : tensor<8x16xf32>
  %dv = stablehlo.dot_general %p, %dz, contracting_dims = [0] x [0] : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  %dw = stablehlo.dot_general %a, %p, contracting_dims = [0] x [0] : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  %nw = stablehlo.add %mw, %dw : tensor<16x16xf32>
  %nv = stablehlo.add %mv, %dv : tensor<16x16xf32>
  %k = stablehlo.broadcast_in_dim %left, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
  %hw = stablehlo.divide %nw, %k : tensor<16x16xf32>
  %hv = stablehlo.divide %nv, %k : tensor<16x16xf32>
  %rw = stablehlo.sqrt %hw : tensor<16x16xf32>
  %rv = stablehlo.sqrt %hv : tensor<16x16xf32>
  %w1 = stablehlo.subtract %w, %rw : tensor<16x16xf32>
  %v1 = stablehlo.subtract %v, %rv : tensor<16x16xf32>
  return %w1, %v1, %nw, %nv : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
}
// ---- expect
module {
  func.func @main(%a: tensor<8x16xf32>, %w: tensor<16x16xf32>, %v: tensor<16x16xf32>, %mw: tensor<16x16xf32>, %mv: tensor<16x16xf32>, %left: tensor<f32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
    %x = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %t = stablehlo.tanh %x : tensor<8x16xf32>
    %s = stablehlo.sine %t : tensor<8x16xf32>
    %z = stablehlo.dot_general %s, %v, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %dz = stablehlo.dot_general %z, %v, contracting_dims = [1] x [1] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %s_0 = stablehlo.sine %t {ingot.recomputed} : tensor<8x16xf32>
    %u = stablehlo.multiply %s_0, %dz : tensor<8x16xf32>
    %p = stablehlo.multiply %t, %u : tensor<8x16xf32>
    %dv = stablehlo.dot_general %p, %dz, contracting_dims = [0] x [0] : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
    %dw = stablehlo.dot_general %a, %p, contracting_dims = [0] x [0] : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
    %nw = stablehlo.add %mw, %dw : tensor<16x16xf32>
    %nv = stablehlo.add %mv, %dv : tensor<16x16xf32>
    %k = stablehlo.broadcast_in_dim %left, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %hw = stablehlo.divide %nw, %k : tensor<16x16xf32>
    %hv = stablehlo.divide %nv, %k : tensor<16x16xf32>
    %rw = stablehlo.sqrt %hw : tensor<16x16xf32>
    %rv = stablehlo.sqrt %hv : tensor<16x16xf32>
    %w1 = stablehlo.subtract %w, %rw : tensor<16x16xf32>
    %v1 = stablehlo.subtract %v, %rv : tensor<16x16xf32>
    return %w1, %v1, %nw, %nv : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  }
}
