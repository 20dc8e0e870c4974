// run: loops for x86-64-v3
// Sums down columns: a vector of them at a time.
func.func @main(%x: tensor<5x20xf32>) -> tensor<20xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.multiply %x, %x : tensor<5x20xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<5x20xf32>, tensor<f32>) -> tensor<20xf32>
  return %1 : tensor<20xf32>
}
// ---- expect
// after loops for x86-64-v3: 000.f32_columns_20x5_multiply_add
kernel f32_columns_20x5_multiply_add lanes 8 tasks 1 (x: f32[100], out: f32[20] out) {
  tile acc: f32x8[3]
  for c in 0 .. 3 unroll {
    acc[c] = splat(f32(0))
  }
  for r in 0 .. 5 {
    for v in 0 .. 3 unroll {
      let x.1 = load x[20*r + 8*v + lane where lt(i32[8*v + lane], splat(i32(20)))]
      acc[v] = add(acc[v], select(lt(i32[8*v + lane], splat(i32(20))), multiply(x.1, x.1), splat(f32(0))))
    }
  }
  for v.1 in 0 .. 3 unroll {
    let reduced = add(splat(f32(0)), acc[v.1])
    store out[8*v.1 + lane] = reduced where lt(i32[8*v.1 + lane], splat(i32(20)))
  }
}
