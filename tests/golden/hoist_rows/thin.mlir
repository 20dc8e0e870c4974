// run: hoist_rows
// Of one row each, products by %w wait for it: all rows are multiplied before the loop. The row that an iteration makes
// itself is not there before, and eight rows are multiplied as fast as they come.
func.func @main(%y: tensor<3x8x16xf32>, %w: tensor<16x8xf32>, %z: tensor<3x1x16xf32>) -> (tensor<1x8xf32>, tensor<8x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %start = stablehlo.constant dense<1.0> : tensor<1x8xf32>
  %zeros = stablehlo.constant dense<1.0> : tensor<8x8xf32>
  %0:3 = stablehlo.while(%i = %zero, %h = %start, %g = %zeros) : tensor<i32>, tensor<1x8xf32>, tensor<8x8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.dynamic_slice %z, %i, %zero, %zero, sizes = [1, 1, 16] : (tensor<3x1x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x16xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x1x16xf32>) -> tensor<1x16xf32>
    %4 = stablehlo.dot_general %3, %w, contracting_dims = [1] x [0] : (tensor<1x16xf32>, tensor<16x8xf32>) -> tensor<1x8xf32>
    %5 = stablehlo.add %h, %4 : tensor<1x8xf32>
    %6 = stablehlo.concatenate %5, %5, dim = 1 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x16xf32>
    %7 = stablehlo.dot_general %6, %w, contracting_dims = [1] x [0] : (tensor<1x16xf32>, tensor<16x8xf32>) -> tensor<1x8xf32>
    %8 = stablehlo.dynamic_slice %y, %i, %zero, %zero, sizes = [1, 8, 16] : (tensor<3x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16xf32>
    %9 = stablehlo.reshape %8 : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
    %10 = stablehlo.dot_general %9, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
    %11 = stablehlo.add %g, %10 : tensor<8x8xf32>
    %12 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %12, %7, %11 : tensor<i32>, tensor<1x8xf32>, tensor<8x8xf32>
  }
  return %0#1, %0#2 : tensor<1x8xf32>, tensor<8x8xf32>
}
// ---- expect
module {
  func.func @main(%y: tensor<3x8x16xf32>, %w: tensor<16x8xf32>, %z: tensor<3x1x16xf32>) -> (tensor<1x8xf32>, tensor<8x8xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %start = stablehlo.constant dense<1.000000e+00> : tensor<1x8xf32>
    %zeros = stablehlo.constant dense<1.000000e+00> : tensor<8x8xf32>
    %0 = stablehlo.dot_general %z, %w, contracting_dims = [2] x [0] : (tensor<3x1x16xf32>, tensor<16x8xf32>) -> tensor<3x1x8xf32>
    %1:3 = stablehlo.while(%i = %zero, %h = %start, %g = %zeros) : tensor<i32>, tensor<1x8xf32>, tensor<8x8xf32>
    cond {
      %2 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %3 = stablehlo.dynamic_slice %z, %i, %zero, %zero, sizes = [1, 1, 16] : (tensor<3x1x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x16xf32>
      %4 = stablehlo.reshape %3 : (tensor<1x1x16xf32>) -> tensor<1x16xf32>
      %5 = stablehlo.constant dense<0> : tensor<i32>
      %6 = stablehlo.dynamic_slice %0, %i, %5, %5, sizes = [1, 1, 8] : (tensor<3x1x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x8xf32>
      %7 = stablehlo.reshape %6 : (tensor<1x1x8xf32>) -> tensor<1x8xf32>
      %8 = stablehlo.add %h, %7 : tensor<1x8xf32>
      %9 = stablehlo.concatenate %8, %8, dim = 1 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x16xf32>
      %10 = stablehlo.dot_general %9, %w, contracting_dims = [1] x [0] : (tensor<1x16xf32>, tensor<16x8xf32>) -> tensor<1x8xf32>
      %11 = stablehlo.dynamic_slice %y, %i, %zero, %zero, sizes = [1, 8, 16] : (tensor<3x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16xf32>
      %12 = stablehlo.reshape %11 : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
      %13 = stablehlo.dot_general %12, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
      %14 = stablehlo.add %g, %13 : tensor<8x8xf32>
      %15 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %15, %10, %14 : tensor<i32>, tensor<1x8xf32>, tensor<8x8xf32>
    }
    return %1#1, %1#2 : tensor<1x8xf32>, tensor<8x8xf32>
  }
}
