// run: loops for x86-64-v3
// The gradient of max pooling.
func.func @main(%x: tensor<1x4x4x8xf32>, %g: tensor<1x2x2x8xf32>) -> tensor<1x4x4x8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %g, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %t = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>} : (tensor<1x4x4x8xf32>, tensor<1x2x2x8xf32>, tensor<f32>) -> tensor<1x4x4x8xf32>
  return %0 : tensor<1x4x4x8xf32>
}
// ---- expect
// after loops for x86-64-v3: 000.f32_select_and_scatter_1x4x4x8
kernel f32_select_and_scatter_1x4x4x8 lanes 8 tasks 1 (x: f32[128], g: f32[32], out: f32[128] out) {
  tile best: f32x8[]
  tile chosen: i32x8[]
  for d in 0 .. 4 {
    for d.1 in 0 .. 4 {
      store out[32*d + 8*d.1 + lane] = splat(f32(0))
    }
  }
  for d.2 in 0 .. 2 {
    for d.3 in 0 .. 2 {
      chosen[] = splat(i32(-1))
      best[] = splat(f32(0))
      let key = load x[64*d.2 + 16*d.3 + lane]
      let takes = not(and(ge(best[], key), ge(chosen[], splat(i32(0)))))
      best[] = select(takes, key, best[])
      chosen[] = select(takes, splat(i32(0)), chosen[])
      let key.1 = load x[64*d.2 + 16*d.3 + lane + 8]
      let takes.1 = not(and(ge(best[], key.1), ge(chosen[], splat(i32(0)))))
      best[] = select(takes.1, key.1, best[])
      chosen[] = select(takes.1, splat(i32(8)), chosen[])
      let key.2 = load x[64*d.2 + 16*d.3 + lane + 32]
      let takes.2 = not(and(ge(best[], key.2), ge(chosen[], splat(i32(0)))))
      best[] = select(takes.2, key.2, best[])
      chosen[] = select(takes.2, splat(i32(32)), chosen[])
      let key.3 = load x[64*d.2 + 16*d.3 + lane + 40]
      let takes.3 = not(and(ge(best[], key.3), ge(chosen[], splat(i32(0)))))
      best[] = select(takes.3, key.3, best[])
      chosen[] = select(takes.3, splat(i32(40)), chosen[])
      let source = load g[16*d.2 + 8*d.3 + lane]
      let old = load out[64*d.2 + 16*d.3 + lane]
      store out[64*d.2 + 16*d.3 + lane] = select(eq(chosen[], splat(i32(0))), add(old, source), old)
      let old.1 = load out[64*d.2 + 16*d.3 + lane + 8]
      store out[64*d.2 + 16*d.3 + lane + 8] = select(eq(chosen[], splat(i32(8))), add(old.1, source), old.1)
      let old.2 = load out[64*d.2 + 16*d.3 + lane + 32]
      store out[64*d.2 + 16*d.3 + lane + 32] = select(eq(chosen[], splat(i32(32))), add(old.2, source), old.2)
      let old.3 = load out[64*d.2 + 16*d.3 + lane + 40]
      store out[64*d.2 + 16*d.3 + lane + 40] = select(eq(chosen[], splat(i32(40))), add(old.3, source), old.3)
    }
  }
}
