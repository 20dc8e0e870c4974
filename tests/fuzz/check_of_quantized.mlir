// Compared are the integers that are stored.
func.func @main(%x: tensor<3x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<3x!quant.uniform<i8:f32, 0.5:1>> {
  check.expect_eq_const %x, dense<1> : tensor<3xi8>
  return %x : tensor<3x!quant.uniform<i8:f32, 0.5:1>>
}
