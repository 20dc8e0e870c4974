// run: simplify_loops
// %w stays what it is; %a and %b only feed each other; %j counts as %i does.
func.func @main(%x: tensor<4xf32>, %w0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %many = stablehlo.constant dense<100> : tensor<i32>
  %0:6 = stablehlo.while(%h = %x, %w = %w0, %a = %x, %b = %w0, %i = %zero, %j = %zero) : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %many : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.multiply %h, %w : tensor<4xf32>
    %3 = stablehlo.add %a, %b : tensor<4xf32>
    %4 = stablehlo.tanh %a : tensor<4xf32>
    %5 = stablehlo.add %i, %one : tensor<i32>
    %6 = stablehlo.add %j, %one : tensor<i32>
    %7 = stablehlo.convert %j : (tensor<i32>) -> tensor<f32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %9 = stablehlo.add %2, %8 : tensor<4xf32>
    stablehlo.return %9, %w, %3, %4, %5, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<4xf32>, %w0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %many = stablehlo.constant dense<100> : tensor<i32>
    %0:2 = stablehlo.while(%h = %x, %i = %zero) : tensor<4xf32>, tensor<i32>
    cond {
      %1 = stablehlo.compare LT, %i, %many : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %2 = stablehlo.multiply %h, %w0 : tensor<4xf32>
      %3 = stablehlo.add %i, %one : tensor<i32>
      %4 = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
      %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %6 = stablehlo.add %2, %5 : tensor<4xf32>
      stablehlo.return %6, %3 : tensor<4xf32>, tensor<i32>
    }
    return %0#0, %w0 : tensor<4xf32>, tensor<4xf32>
  }
}
