// run: simplify, dce
// Windows from the first element to each are combined in rounds of doubling, and so are those from each to the last. A
// window that does not reach the end stays as it is.
func.func @main(%x: tensor<2x40xi32>, %y: tensor<33xf32>) -> (tensor<2x40xi32>, tensor<33xf32>, tensor<2x40xi32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 40>, padding = dense<[[0, 0], [39, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<2x40xi32>, tensor<i32>) -> tensor<2x40xi32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %1 = "stablehlo.reduce_window"(%y, %least) <{window_dimensions = array<i64: 33>, padding = dense<[[0, 32]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<33xf32>, tensor<f32>) -> tensor<33xf32>
  %2 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 39>, padding = dense<[[0, 0], [38, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<2x40xi32>, tensor<i32>) -> tensor<2x40xi32>
  return %0, %1, %2 : tensor<2x40xi32>, tensor<33xf32>, tensor<2x40xi32>
}
// ---- expect
module {
  func.func @main(%x: tensor<2x40xi32>, %y: tensor<33xf32>) -> (tensor<2x40xi32>, tensor<33xf32>, tensor<2x40xi32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.pad %x, %zero, low = [0, 1], high = [0, -1], interior = [0, 0] : (tensor<2x40xi32>, tensor<i32>) -> tensor<2x40xi32>
    %1 = stablehlo.add %0, %x : tensor<2x40xi32>
    %2 = stablehlo.pad %1, %zero, low = [0, 2], high = [0, -2], interior = [0, 0] : (tensor<2x40xi32>, tensor<i32>) -> tensor<2x40xi32>
    %3 = stablehlo.add %2, %1 : tensor<2x40xi32>
    %4 = stablehlo.pad %3, %zero, low = [0, 4], high = [0, -4], interior = [0, 0] : (tensor<2x40xi32>, tensor<i32>) -> tensor<2x40xi32>
    %5 = stablehlo.add %4, %3 : tensor<2x40xi32>
    %6 = stablehlo.pad %5, %zero, low = [0, 8], high = [0, -8], interior = [0, 0] : (tensor<2x40xi32>, tensor<i32>) -> tensor<2x40xi32>
    %7 = stablehlo.add %6, %5 : tensor<2x40xi32>
    %8 = stablehlo.pad %7, %zero, low = [0, 16], high = [0, -16], interior = [0, 0] : (tensor<2x40xi32>, tensor<i32>) -> tensor<2x40xi32>
    %9 = stablehlo.add %8, %7 : tensor<2x40xi32>
    %10 = stablehlo.pad %9, %zero, low = [0, 32], high = [0, -32], interior = [0, 0] : (tensor<2x40xi32>, tensor<i32>) -> tensor<2x40xi32>
    %11 = stablehlo.add %10, %9 : tensor<2x40xi32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.pad %y, %least, low = [-1], high = [1], interior = [0] : (tensor<33xf32>, tensor<f32>) -> tensor<33xf32>
    %13 = stablehlo.maximum %y, %12 : tensor<33xf32>
    %14 = stablehlo.pad %13, %least, low = [-2], high = [2], interior = [0] : (tensor<33xf32>, tensor<f32>) -> tensor<33xf32>
    %15 = stablehlo.maximum %13, %14 : tensor<33xf32>
    %16 = stablehlo.pad %15, %least, low = [-4], high = [4], interior = [0] : (tensor<33xf32>, tensor<f32>) -> tensor<33xf32>
    %17 = stablehlo.maximum %15, %16 : tensor<33xf32>
    %18 = stablehlo.pad %17, %least, low = [-8], high = [8], interior = [0] : (tensor<33xf32>, tensor<f32>) -> tensor<33xf32>
    %19 = stablehlo.maximum %17, %18 : tensor<33xf32>
    %20 = stablehlo.pad %19, %least, low = [-16], high = [16], interior = [0] : (tensor<33xf32>, tensor<f32>) -> tensor<33xf32>
    %21 = stablehlo.maximum %19, %20 : tensor<33xf32>
    %22 = stablehlo.pad %21, %least, low = [-32], high = [32], interior = [0] : (tensor<33xf32>, tensor<f32>) -> tensor<33xf32>
    %23 = stablehlo.maximum %21, %22 : tensor<33xf32>
    %24 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[0, 0], [38, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 39>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<2x40xi32>, tensor<i32>) -> tensor<2x40xi32>
    return %11, %23, %24 : tensor<2x40xi32>, tensor<33xf32>, tensor<2x40xi32>
  }
}
