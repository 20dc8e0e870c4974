func.func @f(%x: tensor<2x!quant.uniform<f32:f32, 0.1>>) { return }
// error: 1:42: error: a storage type is an integer type of at most 32 bits, like i8
// -----
func.func @f(%x: tensor<2x!quant.uniform<i8<-129:127>:f32, 0.1>>) { return }
// error: 1:44: error: these are no ascending bounds of i8
// -----
func.func @f(%x: tensor<2x!quant.uniform<i8:i32, 0.1>>) { return }
// error: 1:45: error: an expressed type is f16, bf16, f32 or f64
// -----
func.func @f(%x: tensor<2x!quant.uniform<i8:f32, 0.0>>) { return }
// error: 1:50: error: a scale is a positive, finite f32
// -----
func.func @f(%x: tensor<2x!quant.uniform<i8:f32, 0.1:128>>) { return }
// error: 1:50: error: the zero point is outside of -128 to 127
// -----
func.func @f(%x: tensor<2x!quant.uniform<i8:f32:1, {0.1}>>) { return }
// error: 1:27: error: the shape has no dimension 1, along which scales differ
// -----
func.func @f(%x: tensor<2x3x!quant.uniform<i8:f32:1, {0.1, 0.2}>>) { return }
// error: 1:29: error: dimension 1 has 3 elements, but there are 2 scales
// -----
func.func @f(%x: tensor<2x3x!quant.uniform<i8:f32:{0:1, 1:1}, {{0.1}, {0.2}}>>) { return }
// error: 1:51: limit: quantization of blocks is not supported; along one axis is
// -----
func.func @f(%x: tensor<2x!quant.calibrated<f32<-1.0:1.0>>>) { return }
// error: 1:27: limit: the element type !quant.calibrated is not supported; !quant.uniform<...> is
// -----
func.func @f(%x: tensor<2x!quant.uniform<i8:f32, 0.1>>, %y: tensor<2xf32>) {
  %0 = stablehlo.add %x, %y : (tensor<2x!quant.uniform<i8:f32, 0.1>>, tensor<2xf32>) -> tensor<2xf32>
  return
}
// error: 2:8: error: stablehlo.add: either all floats are quantized or none, but tensor<2xf32> is not
// -----
func.func @f(%x: tensor<2x!quant.uniform<i8:f32, 0.1>>) {
  %0 = stablehlo.tanh %x : (tensor<2x!quant.uniform<i8:f32, 0.1>>) -> tensor<2xf32>
  return
}
// error: 2:8: error: stablehlo.tanh: either all floats are quantized or none, but tensor<2xf32> is not
// -----
func.func @f(%x: tensor<2xf32>) {
  %0 = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// error: 2:8: error: stablehlo.uniform_quantize: gives a quantized tensor, not tensor<2xf32>
// -----
func.func @f(%x: tensor<2xf32>) {
  %0 = stablehlo.uniform_dequantize %x : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// error: 2:8: error: stablehlo.uniform_dequantize: gives floats for a quantized tensor, not tensor<2xf32> for tensor<2xf32>
// -----
func.func @f(%x: tensor<2xf64>) {
  %0 = stablehlo.uniform_quantize %x : (tensor<2xf64>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}
// error: 2:8: error: stablehlo.uniform_quantize: gives a tensor of the operand's shape and expressed type, not tensor<2x!quant.uniform<i8:f32, 1.000000e-01>> from tensor<2xf64>
// -----
func.func @f() {
  %0 = stablehlo.constant dense<[1, 300]> : tensor<2x!quant.uniform<i8:f32, 0.1>>
  return
}
// error: 2:37: error: the integer does not fit i8
// -----
func.func @f(%x: tensor<8xf6E2M3FN>) {
  %0 = stablehlo.bitcast_convert %x : (tensor<8xf6E2M3FN>) -> tensor<8xi8>
  return
}
// error: 2:8: error: stablehlo.bitcast_convert: cannot give tensor<8xi8> from tensor<8xf6E2M3FN>: shapes must agree, with one more, last dimension of 1 on the side of the narrower type
