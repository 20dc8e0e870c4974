// run: loops for x86-64-v3
func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// ---- expect
// after loops for x86-64-v3: 000.f32_triangular_solve_8x8
kernel f32_triangular_solve_8x8 lanes 8 tasks 1 (a: f32[64], b: f32[64], out: f32[64] out aliases b, solved: f32[64] scratch) {
  tile sum: f32x8[1]
  for i in 0 .. 8 {
    sum[0] = load b[8*i + lane]
    for s in 0 .. i {
      let factor = load a[8*i + s]
      let negative = negate(factor)
      sum[0] = fma(load solved[8*s + lane], splat(negative), sum[0])
    }
    let pivot = load a[9*i]
    let x = divide(sum[0], splat(pivot))
    store solved[8*i + lane] = x
    store out[8*i + lane] = x
  }
}
