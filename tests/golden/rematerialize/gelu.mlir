// run: rematerialize
// Late readers of what follows cheaply from %x compute it again; what takes long (the dots) stays.
func.func @main(%a: tensor<8x16xf32>, %w: tensor<16x32xf32>, %v: tensor<32x16xf32>) -> (tensor<16x32xf32>, tensor<32x16xf32>) {
  %x = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %one = stablehlo.constant dense<1.0> : tensor<8x32xf32>
  %t = stablehlo.tanh %x : tensor<8x32xf32>
  %s = stablehlo.add %t, %one : tensor<8x32xf32>
  %y = stablehlo.multiply %x, %s : tensor<8x32xf32>
  %z = stablehlo.dot_general %y, %v, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %dz = stablehlo.multiply %z, %z : tensor<8x16xf32>
  %dy = stablehlo.dot_general %dz, %v, contracting_dims = [1] x [1] : (tensor<8x16xf32>, tensor<32x16xf32>) -> tensor<8x32xf32>
  %d = stablehlo.multiply %dy, %s : tensor<8x32xf32>
  %u = stablehlo.multiply %t, %d : tensor<8x32xf32>
  %dv = stablehlo.dot_general %y, %dz, contracting_dims = [0] x [0] : (tensor<8x32xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
  %dw = stablehlo.dot_general %a, %u, contracting_dims = [0] x [0] : (tensor<8x16xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
  return %dw, %dv : tensor<16x32xf32>, tensor<32x16xf32>
}
// ---- expect
module {
  func.func @main(%a: tensor<8x16xf32>, %w: tensor<16x32xf32>, %v: tensor<32x16xf32>) -> (tensor<16x32xf32>, tensor<32x16xf32>) {
    %x = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
    %one = stablehlo.constant dense<1.000000e+00> : tensor<8x32xf32>
    %t = stablehlo.tanh %x : tensor<8x32xf32>
    %s = stablehlo.add %t, %one : tensor<8x32xf32>
    %t_0 = stablehlo.tanh %x {ingot.recomputed} : tensor<8x32xf32>
    %s_0 = stablehlo.add %t_0, %one {ingot.recomputed} : tensor<8x32xf32>
    %y = stablehlo.multiply %x, %s_0 : tensor<8x32xf32>
    %z = stablehlo.dot_general %y, %v, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
    %dz = stablehlo.multiply %z, %z : tensor<8x16xf32>
    %dy = stablehlo.dot_general %dz, %v, contracting_dims = [1] x [1] : (tensor<8x16xf32>, tensor<32x16xf32>) -> tensor<8x32xf32>
    %d = stablehlo.multiply %dy, %s_0 : tensor<8x32xf32>
    %u = stablehlo.multiply %t_0, %d : tensor<8x32xf32>
    %dv = stablehlo.dot_general %y, %dz, contracting_dims = [0] x [0] : (tensor<8x32xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
    %dw = stablehlo.dot_general %a, %u, contracting_dims = [0] x [0] : (tensor<8x16xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
    return %dw, %dv : tensor<16x32xf32>, tensor<32x16xf32>
  }
}
