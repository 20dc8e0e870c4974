// run: simplify_loops
// %k is read within a branch within the body, and so stays; what the condition needs stays too.
func.func @main(%x: tensor<f32>, %p: tensor<i1>, %n: tensor<i32>) -> tensor<f32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:3 = stablehlo.while(%h = %x, %k = %x, %i = %one) : tensor<f32>, tensor<f32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = "stablehlo.if"(%p) ({
      %3 = stablehlo.add %h, %k : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }, {
      stablehlo.return %h : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    %4 = stablehlo.negate %k : tensor<f32>
    %5 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %4, %5 : tensor<f32>, tensor<f32>, tensor<i32>
  }
  return %0#0 : tensor<f32>
}
// ---- expect
module {
  func.func @main(%x: tensor<f32>, %p: tensor<i1>, %n: tensor<i32>) -> tensor<f32> {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0:3 = stablehlo.while(%h = %x, %k = %x, %i = %one) : tensor<f32>, tensor<f32>, tensor<i32>
    cond {
      %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %2 = "stablehlo.if"(%p) ({
        %3 = stablehlo.add %h, %k : tensor<f32>
        stablehlo.return %3 : tensor<f32>
      }, {
        stablehlo.return %h : tensor<f32>
      }) : (tensor<i1>) -> tensor<f32>
      %4 = stablehlo.negate %k : tensor<f32>
      %5 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %2, %4, %5 : tensor<f32>, tensor<f32>, tensor<i32>
    }
    return %0#0 : tensor<f32>
  }
}
