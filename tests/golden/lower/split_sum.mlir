// run: loops for x86-64-v3
// One long sum: partial sums by many tasks, then their sum in a fixed order.
func.func @main(%x: tensor<524288xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<524288xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// ---- expect
// after loops for x86-64-v3: 000.f32_rows_1x524288_add
kernel f32_rows_1x524288_add lanes 8 tasks 16 (x: f32[524288], partial: f32[16] out) {
  tile acc: f32x8[4]
  tile total: f32x8[4]
  for c in 0 .. 4 unroll {
    acc[c] = splat(f32(0))
    total[c] = splat(f32(0))
  }
  for block in 32768*task .. 32768*task + 32768 by 2048 {
    for i in block .. min(block + 2048, 32768*task + 32768) by 32 {
      for c.1 in 0 .. 4 unroll {
        acc[c.1] = add(acc[c.1], load x[i + 8*c.1 + lane])
      }
    }
    for c.2 in 0 .. 4 unroll {
      total[c.2] = add(total[c.2], acc[c.2])
      acc[c.2] = splat(f32(0))
    }
  }
  for c.3 in 0 .. 4 unroll {
    total[c.3] = add(total[c.3], acc[c.3])
    acc[c.3] = splat(f32(0))
  }
  store partial[task] = reduce<add>(add(add(total[0], total[2]), add(total[1], total[3])))
}
// after loops for x86-64-v3: 001.f32_rows_1x524288_add.1
kernel f32_rows_1x524288_add.1 lanes 1 tasks 1 (partial: f32[16], out: f32[1] out) {
  tile acc: f32[1]
  acc[0] = f32(0)
  for part in 0 .. 16 {
    acc[0] = add(acc[0], load partial[part])
  }
  let reduced = add(f32(0), acc[0])
  store out[0] = reduced
}
