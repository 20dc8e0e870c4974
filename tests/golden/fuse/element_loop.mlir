// run: fuse
// Each element goes round by itself: one kernel, with the loop inside. A body that reads other elements stays a loop.
func.func @alone(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<6xf32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.multiply %a, %y : tensor<6xf32>
    %3 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %3 : tensor<6xf32>, tensor<i32>
  }
  return %0#0 : tensor<6xf32>
}
func.func @with_others(%x: tensor<6xf32>) -> tensor<6xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<6xf32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.reverse %a, dims = [0] : tensor<6xf32>
    %3 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %3 : tensor<6xf32>, tensor<i32>
  }
  return %0#0 : tensor<6xf32>
}
// ---- expect
module {
  func.func @alone(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
    %0 = "ingot.kernel"(%x, %y) <{name = "f32_while_6"}> ({
    ^bb0(%x_0: tensor<6xf32>, %y_0: tensor<6xf32>):
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %1:2 = stablehlo.while(%a = %x_0, %i = %zero) : tensor<6xf32>, tensor<i32>
      cond {
        %n = stablehlo.constant dense<9> : tensor<i32>
        %2 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %2 : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %3 = stablehlo.multiply %a, %y_0 : tensor<6xf32>
        %4 = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %3, %4 : tensor<6xf32>, tensor<i32>
      }
      ingot.yield %1#0 : tensor<6xf32>
    }) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
  func.func @with_others(%x: tensor<6xf32>) -> tensor<6xf32> {
    %zero = "ingot.kernel"() <{name = "i32_1"}> ({
      %zero_0 = stablehlo.constant dense<0> : tensor<i32>
      ingot.yield %zero_0 : tensor<i32>
    }) : () -> tensor<i32>
    %0:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<6xf32>, tensor<i32>
    cond {
      %1 = "ingot.kernel"(%i) <{name = "i1_1_compare"}> ({
      ^bb0(%i_0: tensor<i32>):
        %n = stablehlo.constant dense<9> : tensor<i32>
        %2 = stablehlo.compare LT, %i_0, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        ingot.yield %2 : tensor<i1>
      }) : (tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %3 = "ingot.kernel"(%a) <{name = "f32_6_reverse"}> ({
      ^bb0(%a_0: tensor<6xf32>):
        %4 = stablehlo.reverse %a_0, dims = [0] : tensor<6xf32>
        ingot.yield %4 : tensor<6xf32>
      }) : (tensor<6xf32>) -> tensor<6xf32>
      %5 = "ingot.kernel"(%i) <{name = "i32_1_add"}> ({
      ^bb0(%i_1: tensor<i32>):
        %one = stablehlo.constant dense<1> : tensor<i32>
        %6 = stablehlo.add %i_1, %one : tensor<i32>
        ingot.yield %6 : tensor<i32>
      }) : (tensor<i32>) -> tensor<i32>
      stablehlo.return %3, %5 : tensor<6xf32>, tensor<i32>
    }
    return %0#0 : tensor<6xf32>
  }
}
