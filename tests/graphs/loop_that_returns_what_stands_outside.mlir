// A kernel loops by itself when all that its body makes stays at its index: decided once for its condition and its body.
module {
  func.func @main(%x: tensor<3x4xf32> {ingot.example = dense<1.000000e+00> : tensor<3x4xf32>}) -> tensor<3x4xf32> {
    %iota = stablehlo.iota dim = 1 : tensor<3x4xf32>
    %end = stablehlo.constant dense<2> : tensor<i32>
    %start = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%carried = %x, %k = %start) : tensor<3x4xf32>, tensor<i32>
    cond {
      %goes_on = stablehlo.compare LT, %k, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %goes_on : tensor<i1>
    } do {
      %1 = stablehlo.optimization_barrier %iota : tensor<3x4xf32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %1, %next : tensor<3x4xf32>, tensor<i32>
    }
    %2 = stablehlo.maximum %x, %0#0 : tensor<3x4xf32>
    return %2 : tensor<3x4xf32>
  }
}
