// run: fold_constants, dce
// Small dense constants fold; equal elements become a splat.
func.func @main() -> (tensor<2x2xi32>, tensor<2xi32>) {
  %a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %b = stablehlo.constant dense<[[4, 3], [2, 1]]> : tensor<2x2xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.multiply %a, %b : tensor<2x2xi32>
  %1 = stablehlo.add %a, %b : tensor<2x2xi32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x2xi32>, tensor<i32>) -> tensor<2xi32>
  return %0, %2 : tensor<2x2xi32>, tensor<2xi32>
}
// ---- expect
module {
  func.func @main() -> (tensor<2x2xi32>, tensor<2xi32>) {
    %0 = stablehlo.constant dense<[[4, 6], [6, 4]]> : tensor<2x2xi32>
    %1 = stablehlo.constant dense<10> : tensor<2xi32>
    return %0, %1 : tensor<2x2xi32>, tensor<2xi32>
  }
}
