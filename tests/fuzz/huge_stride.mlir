// A number at the end of its range, where positions are computed of it.
func.func @stride(%x: tensor<4x5x6xf64>) -> tensor<1x4x1xf64> {
  %0 = stablehlo.slice %x [0:4:9223372036854775807, 1:5, 5:6] : (tensor<4x5x6xf64>) -> tensor<1x4x1xf64>
  return %0 : tensor<1x4x1xf64>
}
