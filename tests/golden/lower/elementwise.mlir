// run: loops for x86-64-v3
// Whole vectors, then one with a mask for what fills none.
func.func @main(%x: tensor<3x20xf32>, %b: tensor<20xf32>) -> tensor<3x20xf32> {
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<20xf32>) -> tensor<3x20xf32>
  %1 = stablehlo.add %x, %0 : tensor<3x20xf32>
  %2 = stablehlo.tanh %1 : tensor<3x20xf32>
  return %2 : tensor<3x20xf32>
}
// ---- expect
// after loops for x86-64-v3: 000.f32_3x20_add_tanh
kernel f32_3x20_add_tanh lanes 8 tasks 1 (x: f32[60], b: f32[20], out: f32[60] out aliases x) {
  for unit in 0 .. 3 {
    for i in 0 .. 16 by 8 {
      store out[20*unit + i + lane] = tanh(add(load x[20*unit + i + lane], load b[i + lane]))
    }
    %0 = lt(i32[lane + 16], splat(i32(20)))
    store out[20*unit + lane + 16] = tanh(add(load x[20*unit + lane + 16 where %0], load b[lane + 16 where %0])) where %0
  }
}
