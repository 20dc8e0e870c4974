// run: fuse
// %0 is read by the reduction and after it: one kernel for both would need its own result.
func.func @main(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.sqrt %1 : tensor<f32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %4 = stablehlo.divide %0, %3 : tensor<8x4xf32>
  return %0, %4 : tensor<8x4xf32>, tensor<8x4xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
    %0:2 = "ingot.kernel"(%x) <{name = "f32_rows_1x32_tanh_add_sqrt_divide"}> ({
    ^bb0(%x_0: tensor<8x4xf32>):
      %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.tanh %x_0 : tensor<8x4xf32>
      %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
      %4 = stablehlo.sqrt %2 : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
      %6 = stablehlo.divide %1, %5 : tensor<8x4xf32>
      ingot.yield %1, %6 : tensor<8x4xf32>, tensor<8x4xf32>
    }) : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
    return %0#0, %0#1 : tensor<8x4xf32>, tensor<8x4xf32>
  }
}
