// run: loops for x86-64-v3
// A move that no kernel reads through: written in the order of the result.
func.func @main(%x: tensor<16x24xf32>) -> tensor<24x16xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<16x24xf32>) -> tensor<24x16xf32>
  return %0 : tensor<24x16xf32>
}
// ---- expect
// after loops for x86-64-v3: 000.f32_24x16_transpose
kernel f32_24x16_transpose lanes 8 tasks 1 (x: f32[384], out: f32[384] out) {
  for unit in 0 .. 2 {
    for i in 0 .. 16 by 8 {
      for s in 16*unit .. min(16*unit + 16, 24) {
        store out[i + 16*s + lane] = load x[24*i + s + 24*lane]
      }
    }
  }
}
