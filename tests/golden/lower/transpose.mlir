// run: loops for x86-64-v3
// A move that no kernel reads through: written in the order of the result.
func.func @main(%x: tensor<16x24xf32>) -> tensor<24x16xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<16x24xf32>) -> tensor<24x16xf32>
  return %0 : tensor<24x16xf32>
}
// ---- expect
// after loops for x86-64-v3: 000.f32_24x16_transpose
kernel f32_24x16_transpose lanes 8 tasks 1 (x: f32[384], out: f32[384] out) {
  tile square: f32x8[8]
  for unit in 0 .. 2 {
    for i in 0 .. 16 by 8 {
      for s in 16*unit .. min(16*unit + 9, 17) by 8 {
        let s.1 = i64[s] in 0 .. 16
        prefetch x[24*i + s.1 + 16]
        square[0] = load x[24*i + s.1 + lane]
        prefetch x[24*i + s.1 + 40]
        square[1] = load x[24*i + s.1 + lane + 24]
        prefetch x[24*i + s.1 + 64]
        square[2] = load x[24*i + s.1 + lane + 48]
        prefetch x[24*i + s.1 + 88]
        square[3] = load x[24*i + s.1 + lane + 72]
        prefetch x[24*i + s.1 + 112]
        square[4] = load x[24*i + s.1 + lane + 96]
        prefetch x[24*i + s.1 + 136]
        square[5] = load x[24*i + s.1 + lane + 120]
        prefetch x[24*i + s.1 + 160]
        square[6] = load x[24*i + s.1 + lane + 144]
        prefetch x[24*i + s.1 + 184]
        square[7] = load x[24*i + s.1 + lane + 168]
        transpose square
        store out[i + 16*s.1 + lane] = square[0]
        store out[i + 16*s.1 + lane + 16] = square[1]
        store out[i + 16*s.1 + lane + 32] = square[2]
        store out[i + 16*s.1 + lane + 48] = square[3]
        store out[i + 16*s.1 + lane + 64] = square[4]
        store out[i + 16*s.1 + lane + 80] = square[5]
        store out[i + 16*s.1 + lane + 96] = square[6]
        store out[i + 16*s.1 + lane + 112] = square[7]
      }
    }
  }
}
