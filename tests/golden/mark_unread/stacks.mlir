// run: mark_unread
// Every row of %a is overwritten before anyone reads it, so that nobody has to write the zeros that it starts as; the
// ones that %a and others start as are still there for the others. %b is read on the way and %f where it has a new row,
// %c has a row that no iteration reaches, of %d all iterations overwrite the same row, and %e starts as an argument.
func.func @main(%x: tensor<4x8xf32>, %e0: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<5x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %ones = stablehlo.constant dense<1.0> : tensor<4x8xf32>
  %more = stablehlo.constant dense<1.0> : tensor<5x8xf32>
  %0:7 = stablehlo.while(%i = %zero, %a = %ones, %b = %ones, %c = %more, %d = %ones, %e = %e0, %f = %ones) : tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<5x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %3 = stablehlo.dynamic_update_slice %a, %2, %i, %zero : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %4 = stablehlo.dynamic_slice %b, %zero, %zero, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %5 = stablehlo.dynamic_update_slice %b, %4, %i, %zero : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %6 = stablehlo.dynamic_update_slice %c, %2, %i, %zero : (tensor<5x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<5x8xf32>
    %7 = stablehlo.dynamic_update_slice %d, %2, %zero, %zero : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %10 = stablehlo.dynamic_update_slice %f, %2, %i, %zero : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %11 = stablehlo.add %10, %e : tensor<4x8xf32>
    %12 = stablehlo.dynamic_slice %11, %zero, %zero, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %8 = stablehlo.dynamic_update_slice %e, %12, %i, %zero : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %9 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %9, %3, %5, %6, %7, %8, %10 : tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<5x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  }
  return %0#1, %0#2, %0#3, %0#4, %0#5, %0#6 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<5x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<4x8xf32>, %e0: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<5x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %four = stablehlo.constant dense<4> : tensor<i32>
    %ones = stablehlo.constant dense<1.000000e+00> : tensor<4x8xf32>
    %more = stablehlo.constant dense<1.000000e+00> : tensor<5x8xf32>
    %0 = stablehlo.constant {ingot.unread} dense<0.000000e+00> : tensor<4x8xf32>
    %1:7 = stablehlo.while(%i = %zero, %a = %0, %b = %ones, %c = %more, %d = %ones, %e = %e0, %f = %ones) : tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<5x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
    cond {
      %2 = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %3 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
      %4 = stablehlo.dynamic_update_slice %a, %3, %i, %zero : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
      %5 = stablehlo.dynamic_slice %b, %zero, %zero, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
      %6 = stablehlo.dynamic_update_slice %b, %5, %i, %zero : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
      %7 = stablehlo.dynamic_update_slice %c, %3, %i, %zero : (tensor<5x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<5x8xf32>
      %8 = stablehlo.dynamic_update_slice %d, %3, %zero, %zero : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
      %9 = stablehlo.dynamic_update_slice %f, %3, %i, %zero : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
      %10 = stablehlo.add %9, %e : tensor<4x8xf32>
      %11 = stablehlo.dynamic_slice %10, %zero, %zero, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
      %12 = stablehlo.dynamic_update_slice %e, %11, %i, %zero : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
      %13 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %13, %4, %6, %7, %8, %12, %9 : tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<5x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
    }
    return %1#1, %1#2, %1#3, %1#4, %1#5, %1#6 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<5x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  }
}
