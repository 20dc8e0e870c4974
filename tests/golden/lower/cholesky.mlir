// run: loops for x86-64-v3
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.cholesky %x, lower = true : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// ---- expect
// after loops for x86-64-v3: 000.f32_cholesky_8x8
kernel f32_cholesky_8x8 lanes 8 tasks 1 (x: f32[64], out: f32[64] out aliases x, rows: f32[64] scratch) {
  for i in 0 .. 8 {
    store rows[8*i + lane] = load x[i + 8*lane]
  }
  for k in 0 .. 8 {
    let pivot = sqrt(load rows[9*k])
    store rows[8*k + lane] = divide(load rows[8*k + lane], splat(pivot))
    store rows[9*k] = pivot
    for i.1 in k + 1 .. 8 {
      let factor = negate(load rows[8*k + i.1])
      store rows[8*i.1 + lane] = fma(load rows[8*k + lane], splat(factor), load rows[8*i.1 + lane])
    }
  }
  for i.2 in 0 .. 8 {
    store out[i.2 + 8*lane] = select(ge(i64[lane], splat(i64[i.2])), load rows[8*i.2 + lane], splat(f32(0)))
  }
}
