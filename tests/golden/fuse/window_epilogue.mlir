// run: fuse
// What follows a window at the same point is its epilogue.
func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %quarter = stablehlo.constant dense<0.25> : tensor<1x2x2x2xf32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x2x2x2xf32>
  %1 = stablehlo.multiply %0, %quarter : tensor<1x2x2x2xf32>
  return %1 : tensor<1x2x2x2xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32> {
    %0 = "ingot.kernel"(%x) <{name = "f32_reduce_window_1x2x2x2_multiply"}> ({
    ^bb0(%x_0: tensor<1x4x4x2xf32>):
      %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %quarter = stablehlo.constant dense<2.500000e-01> : tensor<1x2x2x2xf32>
      %1 = "stablehlo.reduce_window"(%x_0, %zero) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %2 = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %2 : tensor<f32>
      }) : (tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x2x2x2xf32>
      %3 = stablehlo.multiply %1, %quarter : tensor<1x2x2x2xf32>
      ingot.yield %3 : tensor<1x2x2x2xf32>
    }) : (tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32>
    return %0 : tensor<1x2x2x2xf32>
  }
}
