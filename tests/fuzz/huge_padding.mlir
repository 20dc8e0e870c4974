// A number at the end of its range, where positions are computed of it.
func.func @main(%x: tensor<2xf32>, %y: tensor<f32>) -> tensor<1xf32> {
  %0 = stablehlo.pad %x, %y, low = [-9223372036854775807], high = [-9223372036854775807], interior = [9223372036854775807] : (tensor<2xf32>, tensor<f32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
