// run: hoist
// The product and the tanh of %w go, with copies of the renamings that they need; the sum of two scalars spread over a
// matrix stays, as it would be larger than what it is made of.
func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %f: tensor<f32>, %n: tensor<i32>) -> tensor<4x4xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%a = %x, %i = %one) : tensor<4x4xf32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.transpose %w, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = stablehlo.dot_general %w, %2, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %4 = stablehlo.tanh %3 : tensor<4x4xf32>
    %5 = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %6 = stablehlo.multiply %a, %4 : tensor<4x4xf32>
    %7 = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
    %8 = stablehlo.add %7, %7 : tensor<5x5xf32>
    %9 = stablehlo.slice %8 [0:4, 1:5] : (tensor<5x5xf32>) -> tensor<4x4xf32>
    %10 = stablehlo.add %6, %5 : tensor<4x4xf32>
    %11 = stablehlo.add %10, %9 : tensor<4x4xf32>
    %12 = stablehlo.subtract %11, %2 : tensor<4x4xf32>
    %13 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %12, %13 : tensor<4x4xf32>, tensor<i32>
  }
  return %0#0 : tensor<4x4xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %f: tensor<f32>, %n: tensor<i32>) -> tensor<4x4xf32> {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.dot_general %w, %0, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.tanh %1 : tensor<4x4xf32>
    %3:2 = stablehlo.while(%a = %x, %i = %one) : tensor<4x4xf32>, tensor<i32>
    cond {
      %4 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %5 = stablehlo.transpose %w, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %6 = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
      %7 = stablehlo.multiply %a, %2 : tensor<4x4xf32>
      %8 = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<5x5xf32>
      %9 = stablehlo.add %8, %8 : tensor<5x5xf32>
      %10 = stablehlo.slice %9 [0:4, 1:5] : (tensor<5x5xf32>) -> tensor<4x4xf32>
      %11 = stablehlo.add %7, %6 : tensor<4x4xf32>
      %12 = stablehlo.add %11, %10 : tensor<4x4xf32>
      %13 = stablehlo.subtract %12, %5 : tensor<4x4xf32>
      %14 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %13, %14 : tensor<4x4xf32>, tensor<i32>
    }
    return %3#0 : tensor<4x4xf32>
  }
}
