// run: fuse
// Three readers of x - mean: each subtracts again instead of reading a third tensor.
func.func @main(%x: tensor<32x4xf32>, %g: tensor<32x4xf32>) -> (tensor<32x4xf32>, tensor<32x4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mean = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<32x4xf32>, tensor<f32>) -> tensor<4xf32>
  %0 = stablehlo.broadcast_in_dim %mean, dims = [1] : (tensor<4xf32>) -> tensor<32x4xf32>
  %1 = stablehlo.subtract %x, %0 : tensor<32x4xf32>
  %2 = stablehlo.multiply %1, %1 : tensor<32x4xf32>
  %var = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<32x4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = stablehlo.broadcast_in_dim %var, dims = [1] : (tensor<4xf32>) -> tensor<32x4xf32>
  %4 = stablehlo.divide %1, %3 : tensor<32x4xf32>
  %5 = stablehlo.tanh %4 : tensor<32x4xf32>
  %6 = stablehlo.multiply %1, %g : tensor<32x4xf32>
  %7 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<32x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %5, %g, %7 : tensor<32x4xf32>, tensor<32x4xf32>, tensor<4xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<32x4xf32>, %g: tensor<32x4xf32>) -> (tensor<32x4xf32>, tensor<32x4xf32>, tensor<4xf32>) {
    %mean = "ingot.kernel"(%x) <{name = "f32_columns_4x32_add"}> ({
    ^bb0(%x_0: tensor<32x4xf32>):
      %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %mean_0 = stablehlo.reduce(%x_0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<32x4xf32>, tensor<f32>) -> tensor<4xf32>
      ingot.yield %mean_0 : tensor<4xf32>
    }) : (tensor<32x4xf32>) -> tensor<4xf32>
    %var:2 = "ingot.kernel"(%mean, %x, %g) <{name = "f32_columns_4x32_subtract_multiply_add_multiply_add"}> ({
    ^bb0(%mean_1: tensor<4xf32>, %x_1: tensor<32x4xf32>, %g_0: tensor<32x4xf32>):
      %zero_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.broadcast_in_dim %mean_1, dims = [1] : (tensor<4xf32>) -> tensor<32x4xf32>
      %2 = stablehlo.subtract %x_1, %1 : tensor<32x4xf32>
      %3 = stablehlo.multiply %2, %2 : tensor<32x4xf32>
      %var_0 = stablehlo.reduce(%3 init: %zero_0) applies stablehlo.add across dimensions = [0] : (tensor<32x4xf32>, tensor<f32>) -> tensor<4xf32>
      %5 = stablehlo.multiply %2, %g_0 : tensor<32x4xf32>
      %6 = stablehlo.reduce(%5 init: %zero_0) applies stablehlo.add across dimensions = [0] : (tensor<32x4xf32>, tensor<f32>) -> tensor<4xf32>
      ingot.yield %var_0, %6 : tensor<4xf32>, tensor<4xf32>
    }) : (tensor<4xf32>, tensor<32x4xf32>, tensor<32x4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %8 = "ingot.kernel"(%mean, %x, %var#0) <{name = "f32_32x4_subtract_divide_tanh"}> ({
    ^bb0(%mean_2: tensor<4xf32>, %x_2: tensor<32x4xf32>, %var_1: tensor<4xf32>):
      %9 = stablehlo.broadcast_in_dim %mean_2, dims = [1] : (tensor<4xf32>) -> tensor<32x4xf32>
      %10 = stablehlo.subtract %x_2, %9 : tensor<32x4xf32>
      %11 = stablehlo.broadcast_in_dim %var_1, dims = [1] : (tensor<4xf32>) -> tensor<32x4xf32>
      %12 = stablehlo.divide %10, %11 : tensor<32x4xf32>
      %13 = stablehlo.tanh %12 : tensor<32x4xf32>
      ingot.yield %13 : tensor<32x4xf32>
    }) : (tensor<4xf32>, tensor<32x4xf32>, tensor<4xf32>) -> tensor<32x4xf32>
    return %8, %g, %var#1 : tensor<32x4xf32>, tensor<32x4xf32>, tensor<4xf32>
  }
}
