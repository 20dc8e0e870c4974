// run: simplify
// All rows of x, each transposed, side by side; halves of it above each other; but not rows that leave one out, or that
// stand in another order.
func.func @main(%x: tensor<3x8xf32>, %y: tensor<4x2xf32>) -> (tensor<4x6xf32>, tensor<4x2xf32>, tensor<16xf32>, tensor<4x2xf32>) {
  %0 = stablehlo.slice %x [0:1, 0:8] : (tensor<3x8xf32>) -> tensor<1x8xf32>
  %1 = stablehlo.slice %x [1:2, 0:8] : (tensor<3x8xf32>) -> tensor<1x8xf32>
  %2 = stablehlo.slice %x [2:3, 0:8] : (tensor<3x8xf32>) -> tensor<1x8xf32>
  %3 = stablehlo.reshape %0 : (tensor<1x8xf32>) -> tensor<2x4xf32>
  %4 = stablehlo.reshape %1 : (tensor<1x8xf32>) -> tensor<2x4xf32>
  %5 = stablehlo.reshape %2 : (tensor<1x8xf32>) -> tensor<2x4xf32>
  %6 = stablehlo.transpose %3, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %7 = stablehlo.transpose %4, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %8 = stablehlo.transpose %5, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %9 = stablehlo.concatenate %6, %7, %8, dim = 1 : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x6xf32>
  %10 = stablehlo.slice %y [0:2, 0:2] : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %11 = stablehlo.slice %y [2:4, 0:2] : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %12 = stablehlo.concatenate %10, %11, dim = 0 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %13 = stablehlo.reshape %0 : (tensor<1x8xf32>) -> tensor<8xf32>
  %14 = stablehlo.reshape %1 : (tensor<1x8xf32>) -> tensor<8xf32>
  %15 = stablehlo.concatenate %13, %14, dim = 0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %16 = stablehlo.concatenate %11, %10, dim = 0 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  return %9, %12, %15, %16 : tensor<4x6xf32>, tensor<4x2xf32>, tensor<16xf32>, tensor<4x2xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<3x8xf32>, %y: tensor<4x2xf32>) -> (tensor<4x6xf32>, tensor<4x2xf32>, tensor<16xf32>, tensor<4x2xf32>) {
    %0 = stablehlo.slice %x [0:1, 0:8] : (tensor<3x8xf32>) -> tensor<1x8xf32>
    %1 = stablehlo.slice %x [1:2, 0:8] : (tensor<3x8xf32>) -> tensor<1x8xf32>
    %2 = stablehlo.slice %x [2:3, 0:8] : (tensor<3x8xf32>) -> tensor<1x8xf32>
    %3 = stablehlo.reshape %0 : (tensor<1x8xf32>) -> tensor<2x4xf32>
    %4 = stablehlo.reshape %1 : (tensor<1x8xf32>) -> tensor<2x4xf32>
    %5 = stablehlo.reshape %2 : (tensor<1x8xf32>) -> tensor<2x4xf32>
    %6 = stablehlo.transpose %3, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
    %7 = stablehlo.transpose %4, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
    %8 = stablehlo.transpose %5, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
    %9 = stablehlo.reshape %x : (tensor<3x8xf32>) -> tensor<3x1x8xf32>
    %10 = stablehlo.reshape %x : (tensor<3x8xf32>) -> tensor<3x2x4xf32>
    %11 = stablehlo.transpose %10, dims = [0, 2, 1] : (tensor<3x2x4xf32>) -> tensor<3x4x2xf32>
    %12 = stablehlo.transpose %10, dims = [2, 0, 1] : (tensor<3x2x4xf32>) -> tensor<4x3x2xf32>
    %13 = stablehlo.reshape %12 : (tensor<4x3x2xf32>) -> tensor<4x6xf32>
    %14 = stablehlo.slice %y [0:2, 0:2] : (tensor<4x2xf32>) -> tensor<2x2xf32>
    %15 = stablehlo.slice %y [2:4, 0:2] : (tensor<4x2xf32>) -> tensor<2x2xf32>
    %16 = stablehlo.reshape %y : (tensor<4x2xf32>) -> tensor<2x2x2xf32>
    %17 = stablehlo.reshape %0 : (tensor<1x8xf32>) -> tensor<8xf32>
    %18 = stablehlo.reshape %1 : (tensor<1x8xf32>) -> tensor<8xf32>
    %19 = stablehlo.concatenate %17, %18, dim = 0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
    %20 = stablehlo.concatenate %15, %14, dim = 0 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
    return %13, %y, %19, %20 : tensor<4x6xf32>, tensor<4x2xf32>, tensor<16xf32>, tensor<4x2xf32>
  }
}
