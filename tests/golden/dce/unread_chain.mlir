// run: dce
// A whole chain goes; the state's new value stays.
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32> {ingot.state = "w"}) -> (tensor<4xf32> {ingot.state = "w"}) {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  %1 = stablehlo.add %0, %x : tensor<4xf32>
  %2 = stablehlo.multiply %w, %x : tensor<4xf32>
  return %2 : tensor<4xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32> {ingot.state = "w"}) -> (tensor<4xf32> {ingot.state = "w"}) {
    %0 = stablehlo.multiply %w, %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
