// run: loops for x86-64-v3
// As many sums at a time as registers hold, and those that read the same.
func.func @main(%a: tensor<5x32xf32>, %b: tensor<5x32xf32>, %c: tensor<5x32xf32>, %d: tensor<5x32xf32>, %e: tensor<5x32xf32>) -> tensor<32xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %dd = stablehlo.multiply %d, %d : tensor<5x32xf32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<5x32xf32>, tensor<f32>) -> tensor<32xf32>
  %1 = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<5x32xf32>, tensor<f32>) -> tensor<32xf32>
  %2 = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<5x32xf32>, tensor<f32>) -> tensor<32xf32>
  %3 = stablehlo.reduce(%d init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<5x32xf32>, tensor<f32>) -> tensor<32xf32>
  %4 = stablehlo.reduce(%dd init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<5x32xf32>, tensor<f32>) -> tensor<32xf32>
  %5 = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<5x32xf32>, tensor<f32>) -> tensor<32xf32>
  %6 = stablehlo.add %0, %1 : tensor<32xf32>
  %7 = stablehlo.add %6, %2 : tensor<32xf32>
  %8 = stablehlo.add %7, %3 : tensor<32xf32>
  %9 = stablehlo.add %8, %4 : tensor<32xf32>
  %10 = stablehlo.add %9, %5 : tensor<32xf32>
  return %10 : tensor<32xf32>
}
// ---- expect
// after loops for x86-64-v3: 000.f32_columns_32x5_add_add_add_add_multiply_add_add_add_add_add_and_2
kernel f32_columns_32x5_add_add_add_add_multiply_add_add_add_add_add_and_2 lanes 8 tasks 1 (a: f32[160], b: f32[160], c: f32[160], d: f32[160], e: f32[160], out: f32[32] out) {
  tile acc: f32x8[4]
  tile acc.1: f32x8[4]
  tile acc.2: f32x8[4]
  tile acc.3: f32x8[4]
  tile acc.4: f32x8[4]
  tile acc.5: f32x8[4]
  for c.1 in 0 .. 4 unroll {
    acc[c.1] = splat(f32(0))
  }
  for c.2 in 0 .. 4 unroll {
    acc.1[c.2] = splat(f32(0))
  }
  for c.3 in 0 .. 4 unroll {
    acc.2[c.3] = splat(f32(0))
  }
  for c.4 in 0 .. 4 unroll {
    acc.3[c.4] = splat(f32(0))
  }
  for c.5 in 0 .. 4 unroll {
    acc.4[c.5] = splat(f32(0))
  }
  for c.6 in 0 .. 4 unroll {
    acc.5[c.6] = splat(f32(0))
  }
  for r in 0 .. 5 {
    for v in 0 .. 4 unroll {
      acc[v] = add(acc[v], load a[32*r + 8*v + lane])
      acc.1[v] = add(acc.1[v], load b[32*r + 8*v + lane])
      acc.2[v] = add(acc.2[v], load c[32*r + 8*v + lane])
      let d.1 = load d[32*r + 8*v + lane]
      acc.3[v] = add(acc.3[v], d.1)
      acc.4[v] = add(acc.4[v], multiply(d.1, d.1))
    }
  }
  for r.1 in 0 .. 5 {
    for v.1 in 0 .. 4 unroll {
      acc.5[v.1] = add(acc.5[v.1], load e[32*r.1 + 8*v.1 + lane])
    }
  }
  for v.2 in 0 .. 4 unroll {
    let reduced = add(splat(f32(0)), acc[v.2])
    let reduced.1 = add(splat(f32(0)), acc.1[v.2])
    let reduced.2 = add(splat(f32(0)), acc.2[v.2])
    let reduced.3 = add(splat(f32(0)), acc.3[v.2])
    let reduced.4 = add(splat(f32(0)), acc.4[v.2])
    let reduced.5 = add(splat(f32(0)), acc.5[v.2])
    store out[8*v.2 + lane] = add(add(add(add(add(reduced, reduced.1), reduced.2), reduced.3), reduced.4), reduced.5)
  }
}
