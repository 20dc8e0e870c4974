// What is compared with a literal becomes an f32, and so does the literal.
func.func @main(%x: tensor<3xf8E4M3FNUZ>) -> tensor<3xf8E4M3FNUZ> {
  check.expect_almost_eq_const %x, dense<1.0> : tensor<3xf8E4M3FNUZ>
  return %x : tensor<3xf8E4M3FNUZ>
}
