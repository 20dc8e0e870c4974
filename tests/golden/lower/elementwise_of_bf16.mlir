// run: loops for aarch64
// Computed in f32 and rounded after each op.
func.func @main(%x: tensor<16xbf16>, %y: tensor<16xbf16>) -> tensor<16xbf16> {
  %0 = stablehlo.multiply %x, %y : tensor<16xbf16>
  %1 = stablehlo.add %0, %x : tensor<16xbf16>
  return %1 : tensor<16xbf16>
}
// ---- expect
// after loops for aarch64: 000.bf16_16_multiply_add
kernel bf16_16_multiply_add lanes 4 tasks 1 (x: bf16[16], y: bf16[16], out: bf16[16] out aliases x) {
  for i in 0 .. 16 by 4 {
    let x.1 = load x[i + lane]
    store out[i + lane] = round<bf16>(add(round<bf16>(multiply(x.1, load y[i + lane])), x.1))
  }
}
