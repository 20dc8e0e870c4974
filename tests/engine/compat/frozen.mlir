// A product with weights that nobody writes, and a count of the rows that it was asked for.
module @frozen {
  func.func public @predict(%x: tensor<2x4xf32> {ingot.name = "x"}, %w: tensor<4x3xf32> {ingot.state = "w"}, %rows: tensor<i32> {ingot.state = "rows"}) -> (tensor<2x3xf32> {ingot.name = "y"}, tensor<i32> {ingot.state = "rows"}) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.add %rows, %two : tensor<i32>
    return %0, %1 : tensor<2x3xf32>, tensor<i32>
  }
}
