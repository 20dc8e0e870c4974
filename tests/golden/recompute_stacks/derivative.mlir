// run: recompute_stacks
// 1 - y y follows from y, so the second loop computes it; tanh does not, and stays a stack. The last stack is read as a
// whole.
func.func @main(%x: tensor<5x8xf32>) -> (tensor<8xf32>, tensor<5x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<5x8xf32>
  %start = stablehlo.constant dense<1.0> : tensor<8xf32>
  %0:4 = stablehlo.while(%y = %zeros, %d = %zeros, %e = %zeros, %i = %zero) : tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 8] : (tensor<5x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %3 = stablehlo.tanh %2 : tensor<1x8xf32>
    %ones = stablehlo.constant dense<1.0> : tensor<1x8xf32>
    %4 = stablehlo.multiply %3, %3 : tensor<1x8xf32>
    %5 = stablehlo.subtract %ones, %4 : tensor<1x8xf32>
    %6 = stablehlo.dynamic_update_slice %y, %3, %i, %zero : (tensor<5x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<5x8xf32>
    %7 = stablehlo.dynamic_update_slice %d, %5, %i, %zero : (tensor<5x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<5x8xf32>
    %8 = stablehlo.dynamic_update_slice %e, %4, %i, %zero : (tensor<5x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<5x8xf32>
    %9 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %7, %8, %9 : tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<i32>
  }
  %10:2 = stablehlo.while(%g = %start, %i = %zero) : tensor<8xf32>, tensor<i32>
  cond {
    %11 = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %11 : tensor<i1>
  } do {
    %12 = stablehlo.dynamic_slice %0#0, %i, %zero, sizes = [1, 8] : (tensor<5x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %13 = stablehlo.dynamic_slice %0#1, %i, %zero, sizes = [1, 8] : (tensor<5x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %14 = stablehlo.add %12, %13 : tensor<1x8xf32>
    %15 = stablehlo.reshape %14 : (tensor<1x8xf32>) -> tensor<8xf32>
    %16 = stablehlo.multiply %g, %15 : tensor<8xf32>
    %17 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %16, %17 : tensor<8xf32>, tensor<i32>
  }
  return %10#0, %0#2 : tensor<8xf32>, tensor<5x8xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<5x8xf32>) -> (tensor<8xf32>, tensor<5x8xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %five = stablehlo.constant dense<5> : tensor<i32>
    %zeros = stablehlo.constant dense<0.000000e+00> : tensor<5x8xf32>
    %start = stablehlo.constant dense<1.000000e+00> : tensor<8xf32>
    %0:4 = stablehlo.while(%y = %zeros, %d = %zeros, %e = %zeros, %i = %zero) : tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<i32>
    cond {
      %1 = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %2 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 8] : (tensor<5x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
      %3 = stablehlo.tanh %2 : tensor<1x8xf32>
      %ones = stablehlo.constant dense<1.000000e+00> : tensor<1x8xf32>
      %4 = stablehlo.multiply %3, %3 : tensor<1x8xf32>
      %5 = stablehlo.subtract %ones, %4 : tensor<1x8xf32>
      %6 = stablehlo.dynamic_update_slice %y, %3, %i, %zero : (tensor<5x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<5x8xf32>
      %7 = stablehlo.dynamic_update_slice %d, %5, %i, %zero : (tensor<5x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<5x8xf32>
      %8 = stablehlo.dynamic_update_slice %e, %4, %i, %zero : (tensor<5x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<5x8xf32>
      %9 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %6, %7, %8, %9 : tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<i32>
    }
    %10:2 = stablehlo.while(%g = %start, %i_0 = %zero) : tensor<8xf32>, tensor<i32>
    cond {
      %11 = stablehlo.compare LT, %i_0, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %11 : tensor<i1>
    } do {
      %12 = stablehlo.dynamic_slice %0#0, %i_0, %zero, sizes = [1, 8] : (tensor<5x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
      %13 = stablehlo.constant dense<0> : tensor<i32>
      %14 = stablehlo.dynamic_slice %0#2, %i_0, %13, sizes = [1, 8] : (tensor<5x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
      %ones_0 = stablehlo.constant dense<1.000000e+00> : tensor<1x8xf32>
      %15 = stablehlo.subtract %ones_0, %14 : tensor<1x8xf32>
      %16 = stablehlo.add %12, %15 : tensor<1x8xf32>
      %17 = stablehlo.reshape %16 : (tensor<1x8xf32>) -> tensor<8xf32>
      %18 = stablehlo.multiply %g, %17 : tensor<8xf32>
      %19 = stablehlo.add %i_0, %one : tensor<i32>
      stablehlo.return %18, %19 : tensor<8xf32>, tensor<i32>
    }
    return %10#0, %0#2 : tensor<8xf32>, tensor<5x8xf32>
  }
}
