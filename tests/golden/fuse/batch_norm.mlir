// run: fuse
// Statistics over other dimensions than the last: a kernel of their own, because every row is needed before the first
// element of the result.
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %eighth = stablehlo.constant dense<0.125> : tensor<4xf32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.multiply %0, %eighth : tensor<4xf32>
  %2 = stablehlo.multiply %x, %x : tensor<8x4xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = stablehlo.multiply %3, %eighth : tensor<4xf32>
  %5 = stablehlo.multiply %1, %1 : tensor<4xf32>
  %6 = stablehlo.subtract %4, %5 : tensor<4xf32>
  %7 = stablehlo.rsqrt %6 : tensor<4xf32>
  %8 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %9 = stablehlo.subtract %x, %8 : tensor<8x4xf32>
  %10 = stablehlo.broadcast_in_dim %7, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %11 = stablehlo.multiply %9, %10 : tensor<8x4xf32>
  return %11 : tensor<8x4xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0:2 = "ingot.kernel"(%x) <{name = "f32_columns_4x8_add_multiply_multiply_add_multiply_multiply_and_2"}> ({
    ^bb0(%x_0: tensor<8x4xf32>):
      %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %eighth = stablehlo.constant dense<1.250000e-01> : tensor<4xf32>
      %1 = stablehlo.reduce(%x_0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
      %3 = stablehlo.multiply %1, %eighth : tensor<4xf32>
      %4 = stablehlo.multiply %x_0, %x_0 : tensor<8x4xf32>
      %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
      %7 = stablehlo.multiply %5, %eighth : tensor<4xf32>
      %8 = stablehlo.multiply %3, %3 : tensor<4xf32>
      %9 = stablehlo.subtract %7, %8 : tensor<4xf32>
      %10 = stablehlo.rsqrt %9 : tensor<4xf32>
      ingot.yield %3, %10 : tensor<4xf32>, tensor<4xf32>
    }) : (tensor<8x4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %11 = "ingot.kernel"(%0#0, %x, %0#1) <{name = "f32_8x4_subtract_multiply"}> ({
    ^bb0(%arg4: tensor<4xf32>, %x_1: tensor<8x4xf32>, %arg5: tensor<4xf32>):
      %12 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
      %13 = stablehlo.subtract %x_1, %12 : tensor<8x4xf32>
      %14 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
      %15 = stablehlo.multiply %13, %14 : tensor<8x4xf32>
      ingot.yield %15 : tensor<8x4xf32>
    }) : (tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    return %11 : tensor<8x4xf32>
  }
}
