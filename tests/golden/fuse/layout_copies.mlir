// run: fuse
// A copy into another layout is a kernel of its own before products, which read each element many times, and stands
// inside what reads each element once.
func.func @main(%x: tensor<4x6x8xf32>, %w: tensor<6x5xf32>, %y: tensor<4x6x8xf32>) -> (tensor<4x8x5xf32>, tensor<4x8x6xf32>) {
  %0 = stablehlo.transpose %x, dims = [0, 2, 1] {ingot.layout_copy} : (tensor<4x6x8xf32>) -> tensor<4x8x6xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [2] x [0] : (tensor<4x8x6xf32>, tensor<6x5xf32>) -> tensor<4x8x5xf32>
  %2 = stablehlo.transpose %y, dims = [0, 2, 1] {ingot.layout_copy} : (tensor<4x6x8xf32>) -> tensor<4x8x6xf32>
  %3 = stablehlo.negate %2 : tensor<4x8x6xf32>
  return %1, %3 : tensor<4x8x5xf32>, tensor<4x8x6xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<4x6x8xf32>, %w: tensor<6x5xf32>, %y: tensor<4x6x8xf32>) -> (tensor<4x8x5xf32>, tensor<4x8x6xf32>) {
    %0 = "ingot.kernel"(%x) <{name = "f32_4x8x6_transpose"}> ({
    ^bb0(%x_0: tensor<4x6x8xf32>):
      %1 = stablehlo.transpose %x_0, dims = [0, 2, 1] {ingot.layout_copy} : (tensor<4x6x8xf32>) -> tensor<4x8x6xf32>
      ingot.yield %1 : tensor<4x8x6xf32>
    }) : (tensor<4x6x8xf32>) -> tensor<4x8x6xf32>
    %2 = "ingot.kernel"(%0, %w) <{name = "f32_dot_general_4x8x5x6"}> ({
    ^bb0(%arg0: tensor<4x8x6xf32>, %w_0: tensor<6x5xf32>):
      %3 = stablehlo.dot_general %arg0, %w_0, contracting_dims = [2] x [0] : (tensor<4x8x6xf32>, tensor<6x5xf32>) -> tensor<4x8x5xf32>
      ingot.yield %3 : tensor<4x8x5xf32>
    }) : (tensor<4x8x6xf32>, tensor<6x5xf32>) -> tensor<4x8x5xf32>
    %4 = "ingot.kernel"(%y) <{name = "f32_4x8x6_negate"}> ({
    ^bb0(%y_0: tensor<4x6x8xf32>):
      %5 = stablehlo.transpose %y_0, dims = [0, 2, 1] {ingot.layout_copy} : (tensor<4x6x8xf32>) -> tensor<4x8x6xf32>
      %6 = stablehlo.negate %5 : tensor<4x8x6xf32>
      ingot.yield %6 : tensor<4x8x6xf32>
    }) : (tensor<4x6x8xf32>) -> tensor<4x8x6xf32>
    return %2, %4 : tensor<4x8x5xf32>, tensor<4x8x6xf32>
  }
}
