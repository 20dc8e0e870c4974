// run: loops for x86-64-v3
// Softmax: a row at a time, kept at hand between its reductions.
func.func @main(%x: tensor<4x20xf32>) -> tensor<4x20xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x20xf32>, tensor<f32>) -> tensor<4xf32>
  %ms = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x20xf32>
  %s = stablehlo.subtract %x, %ms : tensor<4x20xf32>
  %e = stablehlo.exponential %s : tensor<4x20xf32>
  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x20xf32>, tensor<f32>) -> tensor<4xf32>
  %ts = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xf32>) -> tensor<4x20xf32>
  %p = stablehlo.divide %e, %ts : tensor<4x20xf32>
  return %p : tensor<4x20xf32>
}
// ---- expect
// after loops for x86-64-v3: 000.f32_rows_4x20_maximum
kernel f32_rows_4x20_maximum lanes 8 tasks 1 (x: f32[80], m: f32[4] out) {
  tile acc: f32x8[1]
  for row in 0 .. 4 {
    acc[0] = splat(f32(0xff800000))
    for i in 0 .. 16 by 8 {
      acc[0] = maximum(acc[0], load x[20*row + i + lane])
    }
    %0 = lt(i32[lane + 16], splat(i32(20)))
    acc[0] = maximum(acc[0], select(%0, load x[20*row + lane + 16 where %0], splat(f32(0xff800000))))
    let reduced = maximum(f32(0xff800000), reduce<maximum>(acc[0]))
    store m[row] = reduced
  }
}
// after loops for x86-64-v3: 001.f32_rows_4x20_subtract_exponential_add_divide
kernel f32_rows_4x20_subtract_exponential_add_divide lanes 8 tasks 1 (x: f32[80], m: f32[4], p: f32[80] out aliases x, row: f32[20] scratch) {
  tile acc: f32x8[1]
  for row.1 in 0 .. 4 {
    acc[0] = splat(f32(0))
    for i in 0 .. 16 by 8 {
      let e = exp(subtract(load x[20*row.1 + i + lane], splat(load m[row.1])))
      store row[i + lane] = e
      acc[0] = add(acc[0], e)
    }
    %0 = lt(i32[lane + 16], splat(i32(20)))
    let e.1 = exp(subtract(load x[20*row.1 + lane + 16 where %0], load m[row.1 where %0]))
    store row[lane + 16] = e.1 where lt(i32[lane + 16], splat(i32(20)))
    acc[0] = add(acc[0], select(lt(i32[lane + 16], splat(i32(20))), e.1, splat(f32(0))))
    let reduced = add(f32(0), reduce<add>(acc[0]))
    for i.1 in 0 .. 16 by 8 {
      store p[20*row.1 + i.1 + lane] = divide(load row[i.1 + lane], splat(reduced))
    }
    %0 = lt(i32[lane + 16], splat(i32(20)))
    store p[20*row.1 + lane + 16] = divide(load row[lane + 16 where %0], splat(reduced)) where %0
  }
}
