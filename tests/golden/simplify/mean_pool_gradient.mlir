// run: simplify, dce
// Of each window's elements, all but one are holes: nothing is summed.
func.func @main(%dy: tensor<2x3x4x5xf32>) -> tensor<2x3x8x15xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %dy, %zero, low = [0, 0, 1, 2], high = [0, 0, 1, 2], interior = [0, 0, 1, 2] : (tensor<2x3x4x5xf32>, tensor<f32>) -> tensor<2x3x9x17xf32>
  %1 = "stablehlo.reduce_window"(%0, %zero) <{window_dimensions = array<i64: 1, 1, 2, 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x3x9x17xf32>, tensor<f32>) -> tensor<2x3x8x15xf32>
  return %1 : tensor<2x3x8x15xf32>
}
// ---- expect
module {
  func.func @main(%dy: tensor<2x3x4x5xf32>) -> tensor<2x3x8x15xf32> {
    %0 = stablehlo.broadcast_in_dim %dy, dims = [0, 1, 2, 4] : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x2x5x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<2x3x4x2x5x3xf32>) -> tensor<2x3x8x15xf32>
    return %1 : tensor<2x3x8x15xf32>
  }
}
