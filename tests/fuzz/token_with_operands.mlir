func.func @main(%x: tensor<?x2xf32>, %a: tensor<0xf64>) -> tensor<0x2xf32> {
  %0 = "stablehlo.create_token"(%x, %a) : (tensor<?x2xf32>, tensor<0xf64>) -> tensor<0x2xf32>
  return %0 : tensor<0x2xf32>
}
