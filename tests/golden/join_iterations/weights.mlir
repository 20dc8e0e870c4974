// run: join_iterations
// A loop back through five iterations adds x y to %w and z y to %v. All x and z are there before the loop and all y
// behind it, so both sums become one product each. %u starts as something else, and of its two products one is of squares
// that lie nowhere: that stays. %t is not worth it, what it is made of being as large, and the factors of %s are of
// different iterations.
func.func @main(%x: tensor<5x2x8xi32>, %z: tensor<5x16xi32>, %thick: tensor<5x8x8xi32>, %u0: tensor<8x8xi32>) -> (tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<5x2x8xi32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %zeros = stablehlo.constant dense<0> : tensor<8x8xi32>
  %stack = stablehlo.constant dense<0> : tensor<5x2x8xi32>
  %0:7 = stablehlo.while(%i = %zero, %w = %zeros, %v = %zeros, %u = %u0, %t = %zeros, %s = %zeros, %y = %stack) : tensor<i32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<5x2x8xi32>
  cond {
    %1 = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.subtract %five, %i : tensor<i32>
    %3 = stablehlo.subtract %2, %one : tensor<i32>
    %4 = stablehlo.dynamic_slice %x, %3, %zero, %zero, sizes = [1, 2, 8] : (tensor<5x2x8xi32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8xi32>
    %5 = stablehlo.reshape %4 : (tensor<1x2x8xi32>) -> tensor<2x8xi32>
    %6 = stablehlo.dynamic_slice %z, %3, %zero, sizes = [1, 16] : (tensor<5x16xi32>, tensor<i32>, tensor<i32>) -> tensor<1x16xi32>
    %7 = stablehlo.reshape %6 : (tensor<1x16xi32>) -> tensor<8x2xi32>
    %8 = stablehlo.negate %5 : tensor<2x8xi32>
    %9 = stablehlo.reshape %8 : (tensor<2x8xi32>) -> tensor<1x2x8xi32>
    %10 = stablehlo.dynamic_update_slice %y, %9, %3, %zero, %zero : (tensor<5x2x8xi32>, tensor<1x2x8xi32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x2x8xi32>
    %11 = stablehlo.dot_general %5, %8, contracting_dims = [0] x [0] : (tensor<2x8xi32>, tensor<2x8xi32>) -> tensor<8x8xi32>
    %12 = stablehlo.add %w, %11 : tensor<8x8xi32>
    %13 = stablehlo.dot_general %7, %8, contracting_dims = [1] x [0] : (tensor<8x2xi32>, tensor<2x8xi32>) -> tensor<8x8xi32>
    %14 = stablehlo.multiply %8, %8 : tensor<2x8xi32>
    %15 = stablehlo.dot_general %5, %14, contracting_dims = [0] x [0] : (tensor<2x8xi32>, tensor<2x8xi32>) -> tensor<8x8xi32>
    %16 = stablehlo.add %13, %v : tensor<8x8xi32>
    %17 = stablehlo.dot_general %8, %5, contracting_dims = [0] x [0] : (tensor<2x8xi32>, tensor<2x8xi32>) -> tensor<8x8xi32>
    %18 = stablehlo.add %u, %15 : tensor<8x8xi32>
    %19 = stablehlo.add %17, %18 : tensor<8x8xi32>
    %20 = stablehlo.dynamic_slice %thick, %3, %zero, %zero, sizes = [1, 8, 8] : (tensor<5x8x8xi32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xi32>
    %21 = stablehlo.reshape %20 : (tensor<1x8x8xi32>) -> tensor<8x8xi32>
    %22 = stablehlo.dot_general %21, %21, contracting_dims = [0] x [0] : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi32>
    %23 = stablehlo.add %t, %22 : tensor<8x8xi32>
    %24 = stablehlo.dynamic_slice %x, %i, %zero, %zero, sizes = [1, 2, 8] : (tensor<5x2x8xi32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8xi32>
    %25 = stablehlo.reshape %24 : (tensor<1x2x8xi32>) -> tensor<2x8xi32>
    %26 = stablehlo.dot_general %25, %8, contracting_dims = [0] x [0] : (tensor<2x8xi32>, tensor<2x8xi32>) -> tensor<8x8xi32>
    %27 = stablehlo.add %s, %26 : tensor<8x8xi32>
    %28 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %28, %12, %16, %19, %23, %27, %10 : tensor<i32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<5x2x8xi32>
  }
  return %0#1, %0#2, %0#3, %0#4, %0#5, %0#6 : tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<5x2x8xi32>
}
// ---- expect
module {
  func.func @main(%x: tensor<5x2x8xi32>, %z: tensor<5x16xi32>, %thick: tensor<5x8x8xi32>, %u0: tensor<8x8xi32>) -> (tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<5x2x8xi32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %five = stablehlo.constant dense<5> : tensor<i32>
    %zeros = stablehlo.constant dense<0> : tensor<8x8xi32>
    %stack = stablehlo.constant dense<0> : tensor<5x2x8xi32>
    %0:7 = stablehlo.while(%i = %zero, %w = %zeros, %v = %zeros, %u = %u0, %t = %zeros, %s = %zeros, %y = %stack) : tensor<i32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<5x2x8xi32>
    cond {
      %1 = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %2 = stablehlo.subtract %five, %i : tensor<i32>
      %3 = stablehlo.subtract %2, %one : tensor<i32>
      %4 = stablehlo.dynamic_slice %x, %3, %zero, %zero, sizes = [1, 2, 8] : (tensor<5x2x8xi32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8xi32>
      %5 = stablehlo.reshape %4 : (tensor<1x2x8xi32>) -> tensor<2x8xi32>
      %6 = stablehlo.negate %5 : tensor<2x8xi32>
      %7 = stablehlo.reshape %6 : (tensor<2x8xi32>) -> tensor<1x2x8xi32>
      %8 = stablehlo.dynamic_update_slice %y, %7, %3, %zero, %zero : (tensor<5x2x8xi32>, tensor<1x2x8xi32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x2x8xi32>
      %9 = stablehlo.multiply %6, %6 : tensor<2x8xi32>
      %10 = stablehlo.dot_general %5, %9, contracting_dims = [0] x [0] : (tensor<2x8xi32>, tensor<2x8xi32>) -> tensor<8x8xi32>
      %11 = stablehlo.add %u, %10 : tensor<8x8xi32>
      %12 = stablehlo.dynamic_slice %thick, %3, %zero, %zero, sizes = [1, 8, 8] : (tensor<5x8x8xi32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xi32>
      %13 = stablehlo.reshape %12 : (tensor<1x8x8xi32>) -> tensor<8x8xi32>
      %14 = stablehlo.dot_general %13, %13, contracting_dims = [0] x [0] : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi32>
      %15 = stablehlo.add %t, %14 : tensor<8x8xi32>
      %16 = stablehlo.dynamic_slice %x, %i, %zero, %zero, sizes = [1, 2, 8] : (tensor<5x2x8xi32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8xi32>
      %17 = stablehlo.reshape %16 : (tensor<1x2x8xi32>) -> tensor<2x8xi32>
      %18 = stablehlo.dot_general %17, %6, contracting_dims = [0] x [0] : (tensor<2x8xi32>, tensor<2x8xi32>) -> tensor<8x8xi32>
      %19 = stablehlo.add %s, %18 : tensor<8x8xi32>
      %20 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %20, %w, %v, %11, %15, %19, %8 : tensor<i32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<5x2x8xi32>
    }
    %21 = stablehlo.dot_general %0#6, %x, contracting_dims = [0, 1] x [0, 1] : (tensor<5x2x8xi32>, tensor<5x2x8xi32>) -> tensor<8x8xi32>
    %22 = stablehlo.add %0#3, %21 : tensor<8x8xi32>
    %23 = stablehlo.reshape %z : (tensor<5x16xi32>) -> tensor<5x8x2xi32>
    %24 = stablehlo.dot_general %23, %0#6, contracting_dims = [0, 2] x [0, 1] : (tensor<5x8x2xi32>, tensor<5x2x8xi32>) -> tensor<8x8xi32>
    %25 = stablehlo.dot_general %x, %0#6, contracting_dims = [0, 1] x [0, 1] : (tensor<5x2x8xi32>, tensor<5x2x8xi32>) -> tensor<8x8xi32>
    return %25, %24, %22, %0#4, %0#5, %0#6 : tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>, tensor<5x2x8xi32>
  }
}
