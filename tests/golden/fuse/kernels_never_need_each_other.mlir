// run: fuse
// %0 is read by the reduction and after it: one kernel for both would need its own result.
func.func @main(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.sqrt %1 : tensor<4xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %4 = stablehlo.divide %0, %3 : tensor<8x4xf32>
  return %0, %4 : tensor<8x4xf32>, tensor<8x4xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
    %0 = "ingot.kernel"(%x) <{name = "f32_8x4_tanh"}> ({
    ^bb0(%x_0: tensor<8x4xf32>):
      %1 = stablehlo.tanh %x_0 : tensor<8x4xf32>
      ingot.yield %1 : tensor<8x4xf32>
    }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = "ingot.kernel"(%0) <{name = "f32_columns_4x8_add_sqrt"}> ({
    ^bb0(%arg0: tensor<8x4xf32>):
      %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %3 = stablehlo.reduce(%arg0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
      %5 = stablehlo.sqrt %3 : tensor<4xf32>
      ingot.yield %5 : tensor<4xf32>
    }) : (tensor<8x4xf32>) -> tensor<4xf32>
    %6 = "ingot.kernel"(%2, %0) <{name = "f32_8x4_divide"}> ({
    ^bb0(%arg3: tensor<4xf32>, %arg4: tensor<8x4xf32>):
      %7 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
      %8 = stablehlo.divide %arg4, %7 : tensor<8x4xf32>
      ingot.yield %8 : tensor<8x4xf32>
    }) : (tensor<4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0, %6 : tensor<8x4xf32>, tensor<8x4xf32>
  }
}
