// A row that is stored where its input lay, and read again after that by a reduce whose region has no single op.
module {
  func.func @main(%arg0: tensor<2x1x1x1xf64> {ingot.example = dense<[[[[1.2915773614277706e+00]]], [[[8.235264030974023e-01]]]]> : tensor<2x1x1x1xf64>}, %arg1: tensor<1xf64> {ingot.example = dense<[0.000000e+00]> : tensor<1xf64>}) -> (tensor<f64>, tensor<f64>) {
    %0:3 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg1) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<2x1x1x1xf64>, tensor<1xf64>, tensor<1xf64>) -> (tensor<2x1x1x1xf64>, tensor<1xf64>, tensor<1xf64>)
    %1 = stablehlo.iota dim = 0 : tensor<1xi32>
    %2 = stablehlo.constant dense<-1.000000e+00> : tensor<f64>
    %3 = stablehlo.constant dense<0> : tensor<i32>
    %4:2 = stablehlo.reduce(%0#1 init: %2), (%1 init: %3) across dimensions = [0] : (tensor<1xf64>, tensor<1xi32>, tensor<f64>, tensor<i32>) -> (tensor<f64>, tensor<i32>)
      reducer(%arg2: tensor<f64>, %arg4: tensor<f64>) (%arg3: tensor<i32>, %arg5: tensor<i32>) {
      %5 = stablehlo.constant dense<false> : tensor<i1>
      %6 = stablehlo.select %5, %arg2, %arg4 : tensor<i1>, tensor<f64>
      stablehlo.return %6, %arg3 : tensor<f64>, tensor<i32>
    }
    %7 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %8 = stablehlo.reduce(%0#2 init: %7) across dimensions = [0] : (tensor<1xf64>, tensor<f64>) -> tensor<f64>
      reducer(%arg6: tensor<f64>, %arg7: tensor<f64>) {
      stablehlo.return %arg6 : tensor<f64>
    }
    return %8, %4#0 : tensor<f64>, tensor<f64>
  }
}
