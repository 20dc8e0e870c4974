// limit: stablehlo.bitcast_convert in a stablehlo.map cannot be compiled yet; elementwise ops and constants can
module {
  func.func @main(%arg0: tensor<1xf8E4M3> {ingot.example = dense<[0.000000e+00]> : tensor<1xf8E4M3>}) -> tensor<1xf8E4M3> {
    %0 = "stablehlo.map"(%arg0, %arg0) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg1: tensor<f8E4M3>, %arg2: tensor<f8E4M3>):
      %1 = stablehlo.add %arg1, %arg1 : tensor<f8E4M3>
      stablehlo.return %1 : tensor<f8E4M3>
    }) : (tensor<1xf8E4M3>, tensor<1xf8E4M3>) -> tensor<1xf8E4M3>
    return %0 : tensor<1xf8E4M3>
  }
}
