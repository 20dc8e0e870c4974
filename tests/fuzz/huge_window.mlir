// A number at the end of its range, where positions are computed of it.
func.func @main(%x: tensor<4xf32>, %start: tensor<f32>) -> tensor<1xf32> {
  %0 = "stablehlo.reduce_window"(%x, %start) <{window_dimensions = array<i64: 9223372036854775807>, window_strides = array<i64: 9223372036854775807>, base_dilations = array<i64: 9223372036854775807>, window_dilations = array<i64: 9223372036854775807>, padding = dense<[[9223372036854775807, 9223372036854775807]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
