// run: fold_constants, dce
// 32 bytes would become 4 kB.
func.func @main() -> tensor<128x8xf32> {
  %a = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<8xf32>) -> tensor<128x8xf32>
  return %0 : tensor<128x8xf32>
}
// ---- expect
module {
  func.func @main() -> tensor<128x8xf32> {
    %a = stablehlo.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00]> : tensor<8xf32>
    %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<8xf32>) -> tensor<128x8xf32>
    return %0 : tensor<128x8xf32>
  }
}
