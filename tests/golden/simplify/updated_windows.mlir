// run: simplify
// What adds a window of 0 elsewhere adds to the window, in place of all; and where the window is all that a mask shows, the
// rest is what is selected otherwise. What more than one op reads stays.
func.func @main(%x: tensor<4x8xf32>, %u: tensor<1x8xf32>, %y: tensor<4x8xf32>, %i: tensor<i32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<4x8xf32>
  %false = stablehlo.constant dense<false> : tensor<4x8xi1>
  %true = stablehlo.constant dense<true> : tensor<1x8xi1>
  %0 = stablehlo.dynamic_update_slice %zeros, %u, %i, %zero : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  %1 = stablehlo.add %x, %0 : tensor<4x8xf32>
  %2 = stablehlo.dynamic_update_slice %false, %true, %i, %zero : (tensor<4x8xi1>, tensor<1x8xi1>, tensor<i32>, tensor<i32>) -> tensor<4x8xi1>
  %3 = stablehlo.dynamic_update_slice %x, %u, %i, %zero : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  %4 = stablehlo.select %2, %3, %y : tensor<4x8xi1>, tensor<4x8xf32>
  %5 = stablehlo.dynamic_update_slice %zeros, %u, %zero, %i : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  %6 = stablehlo.add %5, %y : tensor<4x8xf32>
  return %1, %4, %5, %6 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<4x8xf32>, %u: tensor<1x8xf32>, %y: tensor<4x8xf32>, %i: tensor<i32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %zeros = stablehlo.constant dense<0.000000e+00> : tensor<4x8xf32>
    %false = stablehlo.constant dense<false> : tensor<4x8xi1>
    %true = stablehlo.constant dense<true> : tensor<1x8xi1>
    %0 = stablehlo.dynamic_update_slice %zeros, %u, %i, %zero : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %1 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %2 = stablehlo.add %1, %u : tensor<1x8xf32>
    %3 = stablehlo.dynamic_update_slice %x, %2, %i, %zero : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %4 = stablehlo.dynamic_update_slice %false, %true, %i, %zero : (tensor<4x8xi1>, tensor<1x8xi1>, tensor<i32>, tensor<i32>) -> tensor<4x8xi1>
    %5 = stablehlo.dynamic_update_slice %x, %u, %i, %zero : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %6 = stablehlo.dynamic_update_slice %y, %u, %i, %zero : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %7 = stablehlo.dynamic_update_slice %zeros, %u, %zero, %i : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %8 = stablehlo.add %7, %y : tensor<4x8xf32>
    return %3, %6, %7, %8 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  }
}
