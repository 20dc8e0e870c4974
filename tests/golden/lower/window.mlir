// run: loops for x86-64-v3
// Max pooling, with what follows it.
func.func @main(%x: tensor<1x4x4x8xf32>) -> tensor<1x2x2x8xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %low) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>} : (tensor<1x4x4x8xf32>, tensor<f32>) -> tensor<1x2x2x8xf32>
  %1 = stablehlo.negate %0 : tensor<1x2x2x8xf32>
  return %1 : tensor<1x2x2x8xf32>
}
// ---- expect
// after loops for x86-64-v3: 000.f32_reduce_window_1x2x2x8_negate
kernel f32_reduce_window_1x2x2x8_negate lanes 8 tasks 1 (x: f32[128], out: f32[32] out) {
  tile acc: f32x8[1]
  for unit in 0 .. 4 {
    let q = divide(ui32[unit], ui32(2)) in 0 .. 1
    let r = i32[unit - 2*q] in 0 .. 1
    acc[0] = splat(f32(0xff800000))
    acc[0] = maximum(acc[0], load x[64*q + 16*r + lane])
    acc[0] = maximum(acc[0], load x[64*q + 16*r + lane + 8])
    acc[0] = maximum(acc[0], load x[64*q + 16*r + lane + 32])
    acc[0] = maximum(acc[0], load x[64*q + 16*r + lane + 40])
    let reduced = maximum(splat(f32(0xff800000)), acc[0])
    store out[16*q + 8*r + lane] = negate(reduced)
  }
}
