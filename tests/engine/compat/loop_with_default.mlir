// Loops, first state of its own and an input with a default value: what format 1.1 and 1.2 added.
func.func public @main(
    %total: tensor<f32> {ingot.state = "total"}, %x: tensor<4xf32> {ingot.name = "x"},
    %rounds: tensor<i32> {ingot.name = "rounds"},
    %decay: tensor<f32> {ingot.name = "decay", ingot.default = dense<0.75> : tensor<f32>})
    -> (tensor<f32> {ingot.state = "total"}, tensor<4xf32> {ingot.name = "y"}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %start = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %more = stablehlo.compare LT, %i, %rounds : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %d = stablehlo.broadcast_in_dim %decay, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %decayed = stablehlo.multiply %y, %d : tensor<4xf32>
    %sine = stablehlo.sine %decayed : tensor<4xf32>
    stablehlo.return %next, %sine : tensor<i32>, tensor<4xf32>
  }
  %sum = stablehlo.reduce(%0#1 init: %start) applies stablehlo.add across dimensions = [0]
       : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %after = stablehlo.add %total, %sum : tensor<f32>
  return %after, %0#1 : tensor<f32>, tensor<4xf32>
}
