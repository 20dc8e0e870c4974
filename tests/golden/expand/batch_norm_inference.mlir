// run: expand
func.func @main(%x: tensor<2x3xf32>, %scale: tensor<3xf32>, %offset: tensor<3xf32>, %mean: tensor<3xf32>, %variance: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = "stablehlo.batch_norm_inference"(%x, %scale, %offset, %mean, %variance) <{epsilon = 1.0e-5 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<2x3xf32>, %scale: tensor<3xf32>, %offset: tensor<3xf32>, %mean: tensor<3xf32>, %variance: tensor<3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.broadcast_in_dim %mean, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.constant dense<1.000000e-05> : tensor<3xf32>
    %2 = stablehlo.add %variance, %1 : tensor<3xf32>
    %3 = stablehlo.sqrt %2 : tensor<3xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %5 = stablehlo.broadcast_in_dim %scale, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %6 = stablehlo.broadcast_in_dim %offset, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %7 = stablehlo.subtract %x, %0 : tensor<2x3xf32>
    %8 = stablehlo.divide %7, %4 : tensor<2x3xf32>
    %9 = stablehlo.multiply %8, %5 : tensor<2x3xf32>
    %10 = stablehlo.add %9, %6 : tensor<2x3xf32>
    return %10 : tensor<2x3xf32>
  }
}
