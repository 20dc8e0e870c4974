// A float of 6 bits lies in 8, so its six bits are not all that there are.
module {
  func.func @main(%arg0: tensor<2x6xi1> {ingot.example = dense<[[true, false, true, true, false, true], [false, true, false, false, true, false]]> : tensor<2x6xi1>}) -> (tensor<2xf6E2M3FN>, tensor<2x6xi1>) {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<2x6xi1>) -> tensor<2xf6E2M3FN>
    %1 = stablehlo.negate %0 : tensor<2xf6E2M3FN>
    %2 = stablehlo.bitcast_convert %1 : (tensor<2xf6E2M3FN>) -> tensor<2x6xi1>
    return %0, %2 : tensor<2xf6E2M3FN>, tensor<2x6xi1>
  }
}
