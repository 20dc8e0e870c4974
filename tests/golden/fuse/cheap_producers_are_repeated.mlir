// run: fuse
// The mask costs one comparison: each reader makes it anew. The tanh is made once.
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> (tensor<8x4xf32>, tensor<4x4xf32>, tensor<8x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<8x4xf32>
  %0 = stablehlo.compare GT, %x, %zero : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
  %1 = stablehlo.tanh %x : tensor<8x4xf32>
  %2 = stablehlo.select %0, %1, %zero : tensor<8x4xi1>, tensor<8x4xf32>
  %3 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %4 = stablehlo.select %0, %3, %zero : tensor<8x4xi1>, tensor<8x4xf32>
  %5 = stablehlo.dot_general %1, %4, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %2, %5, %4 : tensor<8x4xf32>, tensor<4x4xf32>, tensor<8x4xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> (tensor<8x4xf32>, tensor<4x4xf32>, tensor<8x4xf32>) {
    %0:2 = "ingot.kernel"(%x) <{name = "f32_8x4_compare_tanh_select"}> ({
    ^bb0(%x_0: tensor<8x4xf32>):
      %zero = stablehlo.constant dense<0.000000e+00> : tensor<8x4xf32>
      %1 = stablehlo.compare GT, %x_0, %zero : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
      %2 = stablehlo.tanh %x_0 : tensor<8x4xf32>
      %3 = stablehlo.select %1, %2, %zero : tensor<8x4xi1>, tensor<8x4xf32>
      ingot.yield %2, %3 : tensor<8x4xf32>, tensor<8x4xf32>
    }) : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
    %4 = "ingot.kernel"(%x, %0#1, %w) <{name = "f32_dot_general_8x4x4_compare_select"}> ({
    ^bb0(%x_1: tensor<8x4xf32>, %arg0: tensor<8x4xf32>, %w_0: tensor<4x4xf32>):
      %zero_0 = stablehlo.constant dense<0.000000e+00> : tensor<8x4xf32>
      %5 = stablehlo.compare GT, %x_1, %zero_0 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
      %6 = stablehlo.dot_general %arg0, %w_0, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      %7 = stablehlo.select %5, %6, %zero_0 : tensor<8x4xi1>, tensor<8x4xf32>
      ingot.yield %7 : tensor<8x4xf32>
    }) : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %8 = "ingot.kernel"(%0#0, %4) <{name = "f32_dot_general_4x4x8"}> ({
    ^bb0(%arg1: tensor<8x4xf32>, %arg2: tensor<8x4xf32>):
      %9 = stablehlo.dot_general %arg1, %arg2, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
      ingot.yield %9 : tensor<4x4xf32>
    }) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    return %0#1, %8, %4 : tensor<8x4xf32>, tensor<4x4xf32>, tensor<8x4xf32>
  }
}
