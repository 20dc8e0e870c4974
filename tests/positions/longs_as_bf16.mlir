// An integer beyond what f64 holds is rounded to bf16 once: a last bit decides between neighbours.
func.func @main(%x: tensor<6xi64> {ingot.example = dense<[1157425104234217473, 1157425104234217472,
                                                      -1157425104234217473, 257, -5, 0]> : tensor<6xi64>},
                %y: tensor<2xui64> {ingot.example = dense<[1157425104234217473, 9263376116282687489]> : tensor<2xui64>})
    -> (tensor<6xbf16>, tensor<2xbf16>) {
  %0 = stablehlo.convert %x : (tensor<6xi64>) -> tensor<6xbf16>
  %1 = stablehlo.convert %y : (tensor<2xui64>) -> tensor<2xbf16>
  return %0, %1 : tensor<6xbf16>, tensor<2xbf16>
}
