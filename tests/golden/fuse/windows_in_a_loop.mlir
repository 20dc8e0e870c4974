// run: canonicalize, fuse
// A round is one kernel, which writes the rows of both stacks where they belong, beside the counter.
func.func @main(%x: tensor<8xf32>, %w: tensor<8xf32>, %n: tensor<i32>) -> (tensor<8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<5x8xf32>
  %0:4 = stablehlo.while(%h = %x, %y = %zeros, %z = %zeros, %i = %zero) : tensor<8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.multiply %h, %w : tensor<8xf32>
    %3 = stablehlo.tanh %2 : tensor<8xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %5 = stablehlo.dynamic_update_slice %y, %4, %i, %zero : (tensor<5x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<5x8xf32>
    %6 = stablehlo.reshape %2 : (tensor<8xf32>) -> tensor<1x8xf32>
    %7 = stablehlo.dynamic_update_slice %z, %6, %i, %zero : (tensor<5x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<5x8xf32>
    %8 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %3, %5, %7, %8 : tensor<8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<i32>
  }
  return %0#0, %0#1, %0#2 : tensor<8xf32>, tensor<5x8xf32>, tensor<5x8xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<8xf32>, %w: tensor<8xf32>, %n: tensor<i32>) -> (tensor<8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) {
    %zero = "ingot.kernel"() <{name = "i32_1"}> ({
      %zero_0 = stablehlo.constant dense<0> : tensor<i32>
      ingot.yield %zero_0 : tensor<i32>
    }) : () -> tensor<i32>
    %zeros = "ingot.kernel"() <{name = "f32_5x8"}> ({
      %zeros_0 = stablehlo.constant dense<0.000000e+00> : tensor<5x8xf32>
      ingot.yield %zeros_0 : tensor<5x8xf32>
    }) : () -> tensor<5x8xf32>
    %0:4 = stablehlo.while(%h = %x, %y = %zeros, %z = %zeros, %i = %zero) : tensor<8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<i32>
    cond {
      %1 = "ingot.kernel"(%i, %n) <{name = "i1_1_compare"}> ({
      ^bb0(%i_0: tensor<i32>, %n_0: tensor<i32>):
        %2 = stablehlo.compare LT, %i_0, %n_0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
        ingot.yield %2 : tensor<i1>
      }) : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %3:3 = "ingot.kernel"(%h, %w, %y, %i, %z) <{name = "f32_5x8_multiply_tanh"}> ({
      ^bb0(%h_0: tensor<8xf32>, %w_0: tensor<8xf32>, %y_0: tensor<5x8xf32>, %i_1: tensor<i32>, %z_0: tensor<5x8xf32>):
        %zero_1 = stablehlo.constant dense<0> : tensor<i32>
        %4 = stablehlo.multiply %h_0, %w_0 : tensor<8xf32>
        %5 = stablehlo.tanh %4 : tensor<8xf32>
        %6 = stablehlo.reshape %5 : (tensor<8xf32>) -> tensor<1x8xf32>
        %7 = stablehlo.dynamic_update_slice %y_0, %6, %i_1, %zero_1 : (tensor<5x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<5x8xf32>
        %8 = stablehlo.reshape %4 : (tensor<8xf32>) -> tensor<1x8xf32>
        %9 = stablehlo.dynamic_update_slice %z_0, %8, %i_1, %zero_1 : (tensor<5x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<5x8xf32>
        ingot.yield %5, %7, %9 : tensor<8xf32>, tensor<5x8xf32>, tensor<5x8xf32>
      }) : (tensor<8xf32>, tensor<8xf32>, tensor<5x8xf32>, tensor<i32>, tensor<5x8xf32>) -> (tensor<8xf32>, tensor<5x8xf32>, tensor<5x8xf32>)
      %10 = "ingot.kernel"(%i) <{name = "i32_1_add"}> ({
      ^bb0(%i_2: tensor<i32>):
        %one = stablehlo.constant dense<1> : tensor<i32>
        %11 = stablehlo.add %i_2, %one : tensor<i32>
        ingot.yield %11 : tensor<i32>
      }) : (tensor<i32>) -> tensor<i32>
      stablehlo.return %3#0, %3#1, %3#2, %10 : tensor<8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<i32>
    }
    return %0#0, %0#1, %0#2 : tensor<8xf32>, tensor<5x8xf32>, tensor<5x8xf32>
  }
}
