// run: sink_rows
// The loop reads rows of two tensors: one is mostly padding and made of a single row, and squared, so its rows are made in the loop; the
// other is of two tensors of its own size, and stays.
func.func @main(%row: tensor<2x1x4xf32>, %x: tensor<3x2x4xf32>, %y: tensor<3x2x4xf32>) -> (tensor<1x2x4xf32>, tensor<1x2x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %padding = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.constant dense<0.0> : tensor<1x2x4xf32>
  %wide = stablehlo.pad %row, %padding, low = [0, 2, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<2x1x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %square = stablehlo.multiply %wide, %wide : tensor<2x3x4xf32>
  %rows = stablehlo.transpose %square, dims = [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %product = stablehlo.multiply %x, %y : tensor<3x2x4xf32>
  %0:2 = stablehlo.while(%i = %zero, %a = %sum) : tensor<i32>, tensor<1x2x4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.dynamic_slice %rows, %i, %zero, %zero, sizes = [1, 2, 4] : (tensor<3x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x4xf32>
    %3 = stablehlo.dynamic_slice %product, %i, %zero, %zero, sizes = [1, 2, 4] : (tensor<3x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x4xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<1x2x4xf32>
    %5 = stablehlo.add %a, %4 : tensor<1x2x4xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %5 : tensor<i32>, tensor<1x2x4xf32>
  }
  %7 = stablehlo.slice %rows [2:3, 0:2, 0:4] : (tensor<3x2x4xf32>) -> tensor<1x2x4xf32>
  return %0#1, %7 : tensor<1x2x4xf32>, tensor<1x2x4xf32>
}
// ---- expect
module {
  func.func @main(%row: tensor<2x1x4xf32>, %x: tensor<3x2x4xf32>, %y: tensor<3x2x4xf32>) -> (tensor<1x2x4xf32>, tensor<1x2x4xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %padding = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %sum = stablehlo.constant dense<0.000000e+00> : tensor<1x2x4xf32>
    %wide = stablehlo.pad %row, %padding, low = [0, 2, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<2x1x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
    %square = stablehlo.multiply %wide, %wide : tensor<2x3x4xf32>
    %rows = stablehlo.transpose %square, dims = [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
    %product = stablehlo.multiply %x, %y : tensor<3x2x4xf32>
    %0:2 = stablehlo.while(%i = %zero, %a = %sum) : tensor<i32>, tensor<1x2x4xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %wide_0 = stablehlo.pad %row, %padding, low = [0, 2, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<2x1x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
      %square_0 = stablehlo.multiply %wide_0, %wide_0 : tensor<2x3x4xf32>
      %rows_0 = stablehlo.transpose %square_0, dims = [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
      %2 = stablehlo.dynamic_slice %rows_0, %i, %zero, %zero, sizes = [1, 2, 4] : (tensor<3x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x4xf32>
      %3 = stablehlo.dynamic_slice %product, %i, %zero, %zero, sizes = [1, 2, 4] : (tensor<3x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x4xf32>
      %4 = stablehlo.multiply %2, %3 : tensor<1x2x4xf32>
      %5 = stablehlo.add %a, %4 : tensor<1x2x4xf32>
      %6 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %6, %5 : tensor<i32>, tensor<1x2x4xf32>
    }
    %7 = stablehlo.slice %rows [2:3, 0:2, 0:4] : (tensor<3x2x4xf32>) -> tensor<1x2x4xf32>
    return %0#1, %7 : tensor<1x2x4xf32>, tensor<1x2x4xf32>
  }
}
