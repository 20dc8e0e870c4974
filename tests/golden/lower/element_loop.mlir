// run: loops for x86-64-v3
// Each element goes round by itself: one kernel, with the loop inside.
func.func @main(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<1000> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<6xf32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.multiply %a, %y : tensor<6xf32>
    %3 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %3 : tensor<6xf32>, tensor<i32>
  }
  return %0#0 : tensor<6xf32>
}
// ---- expect
// after loops for x86-64-v3: 000.f32_while_6
kernel f32_while_6 lanes 8 tasks 1 (x: f32[6], y: f32[6], out: f32[6] out aliases x) {
  tile carried: f32x8[1]
  carried[0] = load x[lane where lt(i32[lane], splat(i32(6)))]
  for iteration in 0 .. 1000 {
    let next = multiply(carried[0], load y[lane where lt(i32[lane], splat(i32(6)))])
    carried[0] = next
  }
  store out[lane] = carried[0] where lt(i32[lane], splat(i32(6)))
}
