func.func @f(%x: tensor<2xcomplex<f16>>) { return }
// error: 1:18: limit: type tensor<2xcomplex<f16>> is not supported yet; tensors are, of i1, i2 .. i64, ui2 .. ui64, f4 .. f8, f16, bf16, f32, f64, complex<f32>, complex<f64> and !quant.uniform
// -----
func.func @f(%x: tensor<*xf32>) { return }
// error: 1:18: limit: type tensor<*xf32> is not supported yet; tensors are, of i1, i2 .. i64, ui2 .. ui64, f4 .. f8, f16, bf16, f32, f64, complex<f32>, complex<f64> and !quant.uniform
// -----
func.func @f(%x: tensor<f32>) {
  %0 = stablehlo.tuple %x : tuple<tensor<i32>>
  return
}
// error: 2:3: error: %0 consists of tensor<f32>, not of tensor<i32>
// -----
func.func @f(%x: tuple<tensor<f32>>) {
  %0 = stablehlo.get_tuple_element %x[1] : (tuple<tensor<f32>>) -> tensor<f32>
  return
}
// error: 2:8: error: there is no element 1 of a tuple
// -----
func.func @f(%x: tensor<2,3xf32>) { return }
// error: 1:26: error: expected 'x' after a dimension, as in tensor<2x3xf32>
// -----
func.func @f(%x: tensor<99999999999999999999xf32>) { return }
// error: 1:25: error: the dimension does not fit 64 bits
// -----
func.func @f(%x: tensor<999999999x999999999x0xf32>) { return }
// error: 1:18: limit: tensor<999999999x999999999x0xf32> is larger than 64 TiB
// -----
func.func @f(%x: tensor<2x?xf32, #stablehlo.bounds<2, 3>>) { return }
// error: 1:34: error: bounds give one number for each dimension that is '?' in the shape, else '?'
// -----
func.func @f(%x: tensor<?xf32, #stablehlo.bounds<?, 3>>) { return }
// error: 1:32: error: bounds give one number for each dimension that is '?' in the shape, else '?'
// -----
func.func @f(%x: tensor<?xf32, #sparse>) { return }
// error: 1:32: limit: the encoding #sparse of a tensor is not supported; #stablehlo.bounds<...> is
// -----
func.func @f(%x: f32) { return }
// error: 1:18: limit: type f32 is not supported yet; tensors are, of i1, i2 .. i64, ui2 .. ui64, f4 .. f8, f16, bf16, f32, f64, complex<f32>, complex<f64> and !quant.uniform
