// A bf16 value is rounded to bf16 before it is converted to f8, although the compiler computes it in f32.
func.func @main() -> tensor<600xbf16> {
  %0 = stablehlo.iota dim = 0 : tensor<600xbf16>
  %1 = stablehlo.constant dense<7.0> : tensor<600xbf16>
  %2 = stablehlo.multiply %0, %1 : tensor<600xbf16>
  %3 = stablehlo.convert %2 : (tensor<600xbf16>) -> tensor<600xf8E5M2>
  %4 = stablehlo.convert %3 : (tensor<600xf8E5M2>) -> tensor<600xbf16>
  return %4 : tensor<600xbf16>
}
