// run: rematerialize
// Numbers that are broadcast for one update after the other take no place: what is gained is gained at the activations.
func.func @main(%a: tensor<32x16xf32>, %w: tensor<16x16xf32>, %v: tensor<16x16xf32>, %beta: tensor<f32>, %rate: tensor<f32>, %decay: tensor<f32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %x = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
  %t = stablehlo.tanh %x : tensor<32x16xf32>
  %s = stablehlo.sine %t : tensor<32x16xf32>
  %z = stablehlo.dot_general %s, %v, contracting_dims = [1] x [0] : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
  %dz = stablehlo.dot_general %z, %v, contracting_dims = [1] x [1] : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
  %u = stablehlo.multiply %s, %dz : tensor<32x16xf32>
  %p = stablehlo.multiply %t, %u : tensor<32x16xf32>
  %dv = stablehlo.dot_general %p, %dz, contracting_dims = [0] x [0] : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
  %dw = stablehlo.dot_general %a, %p, contracting_dims = [0] x [0] : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
  %k0 = stablehlo.broadcast_in_dim %beta, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
  %k1 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
  %k2 = stablehlo.broadcast_in_dim %decay, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
  %square = stablehlo.multiply %rate, %rate : tensor<f32>
  %k3 = stablehlo.broadcast_in_dim %square, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
  %sum = stablehlo.add %rate, %beta : tensor<f32>
  %k4 = stablehlo.broadcast_in_dim %sum, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
  %w0 = stablehlo.multiply %dw, %k0 : tensor<16x16xf32>
  %w1 = stablehlo.add %w0, %k1 : tensor<16x16xf32>
  %w2 = stablehlo.multiply %w1, %k2 : tensor<16x16xf32>
  %w3 = stablehlo.add %w2, %k3 : tensor<16x16xf32>
  %w4 = stablehlo.multiply %w3, %k4 : tensor<16x16xf32>
  %v0 = stablehlo.multiply %dv, %k0 : tensor<16x16xf32>
  %v1 = stablehlo.add %v0, %k1 : tensor<16x16xf32>
  %v2 = stablehlo.multiply %v1, %k2 : tensor<16x16xf32>
  %v3 = stablehlo.add %v2, %k3 : tensor<16x16xf32>
  %v4 = stablehlo.multiply %v3, %k4 : tensor<16x16xf32>
  return %w4, %v4 : tensor<16x16xf32>, tensor<16x16xf32>
}
// ---- expect
module {
  func.func @main(%a: tensor<32x16xf32>, %w: tensor<16x16xf32>, %v: tensor<16x16xf32>, %beta: tensor<f32>, %rate: tensor<f32>, %decay: tensor<f32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
    %x = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %t = stablehlo.tanh %x : tensor<32x16xf32>
    %s = stablehlo.sine %t : tensor<32x16xf32>
    %z = stablehlo.dot_general %s, %v, contracting_dims = [1] x [0] : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %dz = stablehlo.dot_general %z, %v, contracting_dims = [1] x [1] : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %s_0 = stablehlo.sine %t {ingot.recomputed} : tensor<32x16xf32>
    %u = stablehlo.multiply %s_0, %dz : tensor<32x16xf32>
    %p = stablehlo.multiply %t, %u : tensor<32x16xf32>
    %dv = stablehlo.dot_general %p, %dz, contracting_dims = [0] x [0] : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
    %dw = stablehlo.dot_general %a, %p, contracting_dims = [0] x [0] : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
    %k0 = stablehlo.broadcast_in_dim %beta, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %k1 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %k2 = stablehlo.broadcast_in_dim %decay, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %square = stablehlo.multiply %rate, %rate : tensor<f32>
    %k3 = stablehlo.broadcast_in_dim %square, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %sum = stablehlo.add %rate, %beta : tensor<f32>
    %k4 = stablehlo.broadcast_in_dim %sum, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %w0 = stablehlo.multiply %dw, %k0 : tensor<16x16xf32>
    %w1 = stablehlo.add %w0, %k1 : tensor<16x16xf32>
    %w2 = stablehlo.multiply %w1, %k2 : tensor<16x16xf32>
    %w3 = stablehlo.add %w2, %k3 : tensor<16x16xf32>
    %w4 = stablehlo.multiply %w3, %k4 : tensor<16x16xf32>
    %v0 = stablehlo.multiply %dv, %k0 : tensor<16x16xf32>
    %v1 = stablehlo.add %v0, %k1 : tensor<16x16xf32>
    %v2 = stablehlo.multiply %v1, %k2 : tensor<16x16xf32>
    %v3 = stablehlo.add %v2, %k3 : tensor<16x16xf32>
    %v4 = stablehlo.multiply %v3, %k4 : tensor<16x16xf32>
    return %w4, %v4 : tensor<16x16xf32>, tensor<16x16xf32>
  }
}
