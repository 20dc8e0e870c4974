// run: loops for x86-64-v3
// Only the window is visited; the state stays where it is.
func.func @main(%cache: tensor<8x4xf32> {ingot.state = "cache"}, %x: tensor<1x4xf32>, %at: tensor<i32>) -> (tensor<8x4xf32> {ingot.state = "cache"}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %cache, %x, %at, %zero : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// ---- expect
// after loops for x86-64-v3: 000.f32_8x4_dynamic_update_slice
kernel f32_8x4_dynamic_update_slice lanes 8 tasks 1 (cache: f32[32], x: f32[4], at: i32[1], out: f32[32] out aliases cache) {
  let start = minimum(maximum(load at[0], i32(0)), i32(7)) in 0 .. 7
  %0 = lt(i32[lane], splat(i32(4)))
  store out[4*start + lane] = load x[lane where %0] where %0
}
