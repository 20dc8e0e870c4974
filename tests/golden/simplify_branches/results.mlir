// run: simplify_branches
// The first result is the same whatever happens, the third is read by nobody.
func.func @main(%p: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:3 = "stablehlo.if"(%p) ({
    %1 = stablehlo.negate %x : tensor<4xf32>
    %2 = stablehlo.tanh %x : tensor<4xf32>
    stablehlo.return %x, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }, {
    stablehlo.return %x, %x, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
// ---- expect
module {
  func.func @main(%p: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = "stablehlo.if"(%p) ({
      %1 = stablehlo.negate %x : tensor<4xf32>
      %2 = stablehlo.tanh %x : tensor<4xf32>
      stablehlo.return %1 : tensor<4xf32>
    }, {
      stablehlo.return %x : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    return %x, %0 : tensor<4xf32>, tensor<4xf32>
  }
}
