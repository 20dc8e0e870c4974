// Two updates of one state: what replaces it takes its place, the other one a copy
module {
  func.func @main(%arg0: tensor<4x1x1xbf16> {ingot.example = dense<[[[0.000000e+00]], [[0.000000e+00]], [[0.000000e+00]], [[0.000000e+00]]]> : tensor<4x1x1xbf16>, ingot.state = "state0"}, %arg1: tensor<i8> {ingot.example = dense<0> : tensor<i8>, ingot.state = "state1"}, %arg2: tensor<i64> {ingot.example = dense<0> : tensor<i64>}) -> (tensor<4x1x1xbf16> {ingot.state = "state0"}, tensor<4x1x1xbf16>) {
    %0 = stablehlo.constant dense<[[[-1.000000e+00]], [[-1.000000e+00]], [[-1.000000e+00]]]> : tensor<3x1x1xbf16>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg1, %arg1, %arg1 : (tensor<4x1x1xbf16>, tensor<3x1x1xbf16>, tensor<i8>, tensor<i8>, tensor<i8>) -> tensor<4x1x1xbf16>
    %2 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %arg2, %arg2 : (tensor<4x1x1xbf16>, tensor<3x1x1xbf16>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4x1x1xbf16>
    return %2, %1 : tensor<4x1x1xbf16>, tensor<4x1x1xbf16>
  }
}
