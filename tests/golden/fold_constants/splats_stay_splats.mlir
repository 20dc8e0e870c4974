// run: fold_constants, dce
// 2^20 elements fold, because nothing large appears.
func.func @main() -> tensor<1024x1024xf32> {
  %a = stablehlo.constant dense<2.0> : tensor<1024x1024xf32>
  %b = stablehlo.constant dense<0.5> : tensor<1024x1024xf32>
  %0 = stablehlo.add %a, %b : tensor<1024x1024xf32>
  %1 = stablehlo.sqrt %0 : tensor<1024x1024xf32>
  return %1 : tensor<1024x1024xf32>
}
// ---- expect
module {
  func.func @main() -> tensor<1024x1024xf32> {
    %0 = stablehlo.constant dense<1.5811388e+00> : tensor<1024x1024xf32>
    return %0 : tensor<1024x1024xf32>
  }
}
