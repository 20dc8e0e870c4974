// run: simplify_branches
// A constant index or predicate, or a single branch, leaves no choice; an index that names no branch takes the last.
func.func @main(%i: tensor<i32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %0 = "stablehlo.if"(%true) ({
    %1 = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  %2 = "stablehlo.case"(%seven) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    %3 = stablehlo.abs %0 : tensor<4xf32>
    stablehlo.return %3 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  %4 = "stablehlo.case"(%i) ({
    %5 = stablehlo.add %x, %2 : tensor<4xf32>
    stablehlo.return %5 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0, %2, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// ---- expect
module {
  func.func @main(%i: tensor<i32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %true = stablehlo.constant dense<true> : tensor<i1>
    %seven = stablehlo.constant dense<7> : tensor<i32>
    %0 = stablehlo.negate %x : tensor<4xf32>
    %1 = stablehlo.abs %0 : tensor<4xf32>
    %2 = stablehlo.add %x, %1 : tensor<4xf32>
    return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
