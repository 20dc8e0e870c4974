// A word of 16 bits that becomes bf16 is rounded where a comparison in the same kernel reads it, too.
func.func @main(%x: tensor<300xi16> {ingot.example = dense<257> : tensor<300xi16>})
    -> (tensor<300xi1>, tensor<300xi1>) {
  %0 = stablehlo.iota dim = 0 : tensor<300xui16>
  %1 = stablehlo.convert %0 : (tensor<300xui16>) -> tensor<300xbf16>
  %2 = stablehlo.iota dim = 0 : tensor<300xbf16>
  %3 = stablehlo.compare EQ, %1, %2 : (tensor<300xbf16>, tensor<300xbf16>) -> tensor<300xi1>
  %4 = stablehlo.convert %x : (tensor<300xi16>) -> tensor<300xbf16>
  %5 = stablehlo.constant dense<256.0> : tensor<300xbf16>
  %6 = stablehlo.compare EQ, %4, %5 : (tensor<300xbf16>, tensor<300xbf16>) -> tensor<300xi1>
  return %3, %6 : tensor<300xi1>, tensor<300xi1>
}
