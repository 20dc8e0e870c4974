// run: fuse
// Three readers of x - mean: each subtracts again instead of reading a third tensor.
func.func @main(%x: tensor<8x4xf32>, %g: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mean = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %0 = stablehlo.broadcast_in_dim %mean, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.subtract %x, %0 : tensor<8x4xf32>
  %2 = stablehlo.multiply %1, %1 : tensor<8x4xf32>
  %var = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = stablehlo.broadcast_in_dim %var, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %4 = stablehlo.divide %1, %3 : tensor<8x4xf32>
  %5 = stablehlo.tanh %4 : tensor<8x4xf32>
  %6 = stablehlo.multiply %1, %g : tensor<8x4xf32>
  %7 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %5, %g, %7 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<4xf32>
}
