// run: unroll_loops
// No round, one round (of whatever), three rounds that fuse; what would not fuse, or goes round too often, stays.
func.func @main(%x: tensor<4x4xf32>, %n: tensor<i32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%a = %x, %i = %one) : tensor<4x4xf32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.add %i, %one : tensor<i32>
    %3 = stablehlo.add %a, %a : tensor<4x4xf32>
    stablehlo.return %3, %2 : tensor<4x4xf32>, tensor<i32>
  }
  %4:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<4x4xf32>, tensor<i32>
  cond {
    %5 = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %5 : tensor<i1>
  } do {
    %6 = stablehlo.add %i, %one : tensor<i32>
    %7 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    stablehlo.return %7, %6 : tensor<4x4xf32>, tensor<i32>
  }
  %8:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<4x4xf32>, tensor<i32>
  cond {
    %9 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %9 : tensor<i1>
  } do {
    %10 = stablehlo.add %i, %one : tensor<i32>
    %11 = stablehlo.negate %a : tensor<4x4xf32>
    stablehlo.return %11, %10 : tensor<4x4xf32>, tensor<i32>
  }
  %12:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<4x4xf32>, tensor<i32>
  cond {
    %13 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %13 : tensor<i1>
  } do {
    %14 = stablehlo.add %i, %one : tensor<i32>
    %15 = stablehlo.dot_general %a, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    stablehlo.return %15, %14 : tensor<4x4xf32>, tensor<i32>
  }
  return %0#0, %4#0, %8#0, %12#0 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<4x4xf32>, %n: tensor<i32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %0 = stablehlo.add %zero, %one : tensor<i32>
    %1 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.add %zero, %one : tensor<i32>
    %3 = stablehlo.negate %x : tensor<4x4xf32>
    %4 = stablehlo.add %2, %one : tensor<i32>
    %5 = stablehlo.negate %3 : tensor<4x4xf32>
    %6 = stablehlo.add %4, %one : tensor<i32>
    %7 = stablehlo.negate %5 : tensor<4x4xf32>
    %8:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<4x4xf32>, tensor<i32>
    cond {
      %9 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %10 = stablehlo.add %i, %one : tensor<i32>
      %11 = stablehlo.dot_general %a, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      stablehlo.return %11, %10 : tensor<4x4xf32>, tensor<i32>
    }
    return %x, %1, %7, %8#0 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  }
}
