// What a real_dynamic_slice declares is not what its start and limit say.
func.func @main(%x: tensor<2x7xf32>) -> tensor<4x3xf32> {
  %start = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %limit = stablehlo.constant dense<[2, 7]> : tensor<2xi64>
  %strides = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %r = stablehlo.real_dynamic_slice %x, %start, %limit, %strides : (tensor<2x7xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}
