// run: loops for x86-64-v3
// Short rows, with where each value was: a network, a row in each lane.
func.func @main(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xi32>) {
  %n = stablehlo.iota dim = 1 : tensor<2x4xi32>
  %s:2 = "stablehlo.sort"(%x, %n) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %t = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<2x4xf32>, tensor<2x4xi32>) -> (tensor<2x4xf32>, tensor<2x4xi32>)
  return %s#0, %s#1 : tensor<2x4xf32>, tensor<2x4xi32>
}
// ---- expect
// after loops for x86-64-v3: 000.f32_sort_2x4
kernel f32_sort_2x4 lanes 8 tasks 1 (x: f32[8], s: f32[8] out aliases x, out: i32[8] out) {
  let x.1 = load x[4*lane where lt(i32[lane], splat(i32(2)))]
  let x.2 = load x[4*lane + 1 where lt(i32[lane], splat(i32(2)))]
  let x.3 = load x[4*lane + 2 where lt(i32[lane], splat(i32(2)))]
  let x.4 = load x[4*lane + 3 where lt(i32[lane], splat(i32(2)))]
  let swap = lt(x.2, x.1)
  let x.5 = select(swap, x.2, x.1)
  let y = select(swap, x.1, x.2)
  let x.6 = select(swap, splat(i32(1)), splat(i32(0)))
  let y.1 = select(swap, splat(i32(0)), splat(i32(1)))
  let swap.1 = lt(x.4, x.3)
  let x.7 = select(swap.1, x.4, x.3)
  let y.2 = select(swap.1, x.3, x.4)
  let x.8 = select(swap.1, splat(i32(3)), splat(i32(2)))
  let y.3 = select(swap.1, splat(i32(2)), splat(i32(3)))
  let swap.2 = lt(x.7, y)
  let x.9 = select(swap.2, x.7, y)
  let y.4 = select(swap.2, y, x.7)
  let x.10 = select(swap.2, x.8, y.1)
  let y.5 = select(swap.2, y.1, x.8)
  let swap.3 = lt(x.9, x.5)
  let x.11 = select(swap.3, x.9, x.5)
  let y.6 = select(swap.3, x.5, x.9)
  let x.12 = select(swap.3, x.10, x.6)
  let y.7 = select(swap.3, x.6, x.10)
  let swap.4 = lt(y.2, y.4)
  let x.13 = select(swap.4, y.2, y.4)
  let y.8 = select(swap.4, y.4, y.2)
  let x.14 = select(swap.4, y.3, y.5)
  let y.9 = select(swap.4, y.5, y.3)
  let swap.5 = lt(x.13, y.6)
  let x.15 = select(swap.5, x.13, y.6)
  let y.10 = select(swap.5, y.6, x.13)
  let x.16 = select(swap.5, x.14, y.7)
  let y.11 = select(swap.5, y.7, x.14)
  store s[4*lane] = x.11 where lt(i32[lane], splat(i32(2)))
  store s[4*lane + 1] = x.15 where lt(i32[lane], splat(i32(2)))
  store s[4*lane + 2] = y.10 where lt(i32[lane], splat(i32(2)))
  store s[4*lane + 3] = y.8 where lt(i32[lane], splat(i32(2)))
  store out[4*lane] = x.12 where lt(i32[lane], splat(i32(2)))
  store out[4*lane + 1] = x.16 where lt(i32[lane], splat(i32(2)))
  store out[4*lane + 2] = y.11 where lt(i32[lane], splat(i32(2)))
  store out[4*lane + 3] = y.9 where lt(i32[lane], splat(i32(2)))
}
