// run: loops for x86-64-v3
// Phases of a strided convolution's gradient: neighbours in two dimensions come from four tensors in turn.
func.func @main(%a: tensor<2x8x8x16xf32>, %b: tensor<2x8x8x16xf32>, %c: tensor<2x8x8x16xf32>, %d: tensor<2x8x8x16xf32>) -> tensor<2x16x16x16xf32> {
  %0 = stablehlo.reshape %a : (tensor<2x8x8x16xf32>) -> tensor<2x8x8x1x16xf32>
  %1 = stablehlo.reshape %b : (tensor<2x8x8x16xf32>) -> tensor<2x8x8x1x16xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 3 : (tensor<2x8x8x1x16xf32>, tensor<2x8x8x1x16xf32>) -> tensor<2x8x8x2x16xf32>
  %3 = stablehlo.reshape %2 : (tensor<2x8x8x2x16xf32>) -> tensor<2x8x1x16x16xf32>
  %4 = stablehlo.reshape %c : (tensor<2x8x8x16xf32>) -> tensor<2x8x8x1x16xf32>
  %5 = stablehlo.reshape %d : (tensor<2x8x8x16xf32>) -> tensor<2x8x8x1x16xf32>
  %6 = stablehlo.concatenate %4, %5, dim = 3 : (tensor<2x8x8x1x16xf32>, tensor<2x8x8x1x16xf32>) -> tensor<2x8x8x2x16xf32>
  %7 = stablehlo.reshape %6 : (tensor<2x8x8x2x16xf32>) -> tensor<2x8x1x16x16xf32>
  %8 = stablehlo.concatenate %3, %7, dim = 2 : (tensor<2x8x1x16x16xf32>, tensor<2x8x1x16x16xf32>) -> tensor<2x8x2x16x16xf32>
  %9 = stablehlo.reshape %8 : (tensor<2x8x2x16x16xf32>) -> tensor<2x16x16x16xf32>
  return %9 : tensor<2x16x16x16xf32>
}
// ---- expect
// after loops for x86-64-v3: 000.f32_2x16x16x16_reshape_reshape_concatenate_reshape_reshape_and_5
kernel f32_2x16x16x16_reshape_reshape_concatenate_reshape_reshape_and_5 lanes 8 tasks 1 (a: f32[2048], b: f32[2048], c: f32[2048], d: f32[2048], out: f32[8192] out) {
  for unit in 0 .. 128 {
    let q = divide(ui32[unit], ui32(8)) in 0 .. 15
    let r = i32[unit - 8*q] in 0 .. 7
    let q.1 = divide(ui32[q], ui32(8)) in 0 .. 1
    let r.1 = i32[q - 8*q.1] in 0 .. 7
    for i in 0 .. 16 by 8 {
      store out[32*r + 4096*q.1 + 512*r.1 + i + lane] = load a[16*r + 1024*q.1 + 128*r.1 + i + lane]
    }
    for i.1 in 0 .. 16 by 8 {
      store out[32*r + 4096*q.1 + 512*r.1 + i.1 + lane + 256] = load c[16*r + 1024*q.1 + 128*r.1 + i.1 + lane]
    }
    for i.2 in 0 .. 16 by 8 {
      store out[32*r + 4096*q.1 + 512*r.1 + i.2 + lane + 16] = load b[16*r + 1024*q.1 + 128*r.1 + i.2 + lane]
    }
    for i.3 in 0 .. 16 by 8 {
      store out[32*r + 4096*q.1 + 512*r.1 + i.3 + lane + 272] = load d[16*r + 1024*q.1 + 128*r.1 + i.3 + lane]
    }
  }
}
