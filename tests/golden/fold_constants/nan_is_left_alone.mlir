// run: fold_constants, dce
// Which NaN comes out is the processor's to say.
func.func @main() -> tensor<f32> {
  %a = stablehlo.constant dense<0x7FC00001> : tensor<f32>
  %b = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
}
// ---- expect
module {
  func.func @main() -> tensor<f32> {
    %a = stablehlo.constant dense<0x7FC00001> : tensor<f32>
    %b = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.add %a, %b : tensor<f32>
    return %0 : tensor<f32>
  }
}
