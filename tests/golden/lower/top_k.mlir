// run: loops for x86-64-v3
func.func @main(%x: tensor<4x16xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>) {
  %0:2 = chlo.top_k(%x, k = 2) : tensor<4x16xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  return %0#0, %0#1 : tensor<4x2xf32>, tensor<4x2xi32>
}
// ---- expect
// after loops for x86-64-v3: 000.f32_top_k_4x2
kernel f32_top_k_4x2 lanes 8 tasks 1 (x: f32[64], out: f32[8] out, out.1: i32[8] out) {
  tile keys: i32x8[2]
  tile positions: i32x8[2]
  keys[0] = splat(i32(-2147483648))
  positions[0] = splat(i32(16))
  keys[1] = splat(i32(-2147483648))
  positions[1] = splat(i32(16))
  for i in 0 .. 16 {
    %0 = bitcast<i32>(load x[i + 16*lane where lt(i32[lane], splat(i32(4)))])
    let key = xor(%0, and(shift_right_arithmetic(%0, splat(i32(31))), splat(i32(2147483647))))
    let wins = or(gt(key, keys[0]), and(eq(key, keys[0]), lt(splat(i32[i]), positions[0])))
    let key.1 = select(wins, keys[0], key)
    let position = select(wins, positions[0], splat(i32[i]))
    keys[0] = select(wins, key, keys[0])
    positions[0] = select(wins, splat(i32[i]), positions[0])
    let wins.1 = or(gt(key.1, keys[1]), and(eq(key.1, keys[1]), lt(position, positions[1])))
    let key.2 = select(wins.1, keys[1], key.1)
    let position.1 = select(wins.1, positions[1], position)
    keys[1] = select(wins.1, key.1, keys[1])
    positions[1] = select(wins.1, position, positions[1])
  }
  store out[2*lane] = bitcast<f32>(xor(keys[0], and(shift_right_arithmetic(keys[0], splat(i32(31))), splat(i32(2147483647))))) where lt(i32[lane], splat(i32(4)))
  store out.1[2*lane] = positions[0] where lt(i32[lane], splat(i32(4)))
  store out[2*lane + 1] = bitcast<f32>(xor(keys[1], and(shift_right_arithmetic(keys[1], splat(i32(31))), splat(i32(2147483647))))) where lt(i32[lane], splat(i32(4)))
  store out.1[2*lane + 1] = positions[1] where lt(i32[lane], splat(i32(4)))
}
