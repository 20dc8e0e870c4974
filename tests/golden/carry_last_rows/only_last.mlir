// run: carry_last_rows
// Of the first stack the last row alone is read, as it is and transposed; of the second another one as well, of the third
// the row that the first iteration writes.
func.func @main(%x: tensor<3x2x4xf32>) -> (tensor<1x2x4xf32>, tensor<2x1x2xf32>, tensor<2x2x4xf32>, tensor<1x2x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %stack = stablehlo.constant dense<0.0> : tensor<3x2x4xf32>
  %0:4 = stablehlo.while(%i = %zero, %a = %stack, %b = %stack, %c = %stack) : tensor<i32>, tensor<3x2x4xf32>, tensor<3x2x4xf32>, tensor<3x2x4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.dynamic_slice %x, %i, %zero, %zero, sizes = [1, 2, 4] : (tensor<3x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x4xf32>
    %3 = stablehlo.tanh %2 : tensor<1x2x4xf32>
    %4 = stablehlo.dynamic_update_slice %a, %3, %i, %zero, %zero : (tensor<3x2x4xf32>, tensor<1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x2x4xf32>
    %5 = stablehlo.dynamic_update_slice %b, %2, %i, %zero, %zero : (tensor<3x2x4xf32>, tensor<1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x2x4xf32>
    %6 = stablehlo.negate %3 : tensor<1x2x4xf32>
    %7 = stablehlo.dynamic_update_slice %c, %6, %i, %zero, %zero : (tensor<3x2x4xf32>, tensor<1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x2x4xf32>
    %8 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %8, %4, %5, %7 : tensor<i32>, tensor<3x2x4xf32>, tensor<3x2x4xf32>, tensor<3x2x4xf32>
  }
  %9 = stablehlo.slice %0#1 [2:3, 0:2, 0:4] : (tensor<3x2x4xf32>) -> tensor<1x2x4xf32>
  %10 = stablehlo.transpose %0#1, dims = [1, 0, 2] : (tensor<3x2x4xf32>) -> tensor<2x3x4xf32>
  %11 = stablehlo.slice %10 [0:2, 2:3, 0:4:2] : (tensor<2x3x4xf32>) -> tensor<2x1x2xf32>
  %12 = stablehlo.slice %0#2 [1:3, 0:2, 0:4] : (tensor<3x2x4xf32>) -> tensor<2x2x4xf32>
  %13 = stablehlo.slice %0#3 [0:1, 0:2, 0:4] : (tensor<3x2x4xf32>) -> tensor<1x2x4xf32>
  return %9, %11, %12, %13 : tensor<1x2x4xf32>, tensor<2x1x2xf32>, tensor<2x2x4xf32>, tensor<1x2x4xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<3x2x4xf32>) -> (tensor<1x2x4xf32>, tensor<2x1x2xf32>, tensor<2x2x4xf32>, tensor<1x2x4xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %stack = stablehlo.constant dense<0.000000e+00> : tensor<3x2x4xf32>
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<1x2x4xf32>
    %1:5 = stablehlo.while(%i = %zero, %a = %stack, %b = %stack, %c = %stack, %arg0 = %0) : tensor<i32>, tensor<3x2x4xf32>, tensor<3x2x4xf32>, tensor<3x2x4xf32>, tensor<1x2x4xf32>
    cond {
      %2 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %3 = stablehlo.dynamic_slice %x, %i, %zero, %zero, sizes = [1, 2, 4] : (tensor<3x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x4xf32>
      %4 = stablehlo.tanh %3 : tensor<1x2x4xf32>
      %5 = stablehlo.dynamic_update_slice %a, %4, %i, %zero, %zero : (tensor<3x2x4xf32>, tensor<1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x2x4xf32>
      %6 = stablehlo.dynamic_update_slice %b, %3, %i, %zero, %zero : (tensor<3x2x4xf32>, tensor<1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x2x4xf32>
      %7 = stablehlo.negate %4 : tensor<1x2x4xf32>
      %8 = stablehlo.dynamic_update_slice %c, %7, %i, %zero, %zero : (tensor<3x2x4xf32>, tensor<1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x2x4xf32>
      %9 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %9, %5, %6, %8, %4 : tensor<i32>, tensor<3x2x4xf32>, tensor<3x2x4xf32>, tensor<3x2x4xf32>, tensor<1x2x4xf32>
    }
    %10 = stablehlo.slice %1#4 [0:1, 0:2, 0:4] : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
    %11 = stablehlo.transpose %1#4, dims = [1, 0, 2] : (tensor<1x2x4xf32>) -> tensor<2x1x4xf32>
    %12 = stablehlo.slice %11 [0:2, 0:1, 0:4:2] : (tensor<2x1x4xf32>) -> tensor<2x1x2xf32>
    %13 = stablehlo.slice %1#2 [1:3, 0:2, 0:4] : (tensor<3x2x4xf32>) -> tensor<2x2x4xf32>
    %14 = stablehlo.slice %1#3 [0:1, 0:2, 0:4] : (tensor<3x2x4xf32>) -> tensor<1x2x4xf32>
    return %10, %12, %13, %14 : tensor<1x2x4xf32>, tensor<2x1x2xf32>, tensor<2x2x4xf32>, tensor<1x2x4xf32>
  }
}
