// Fits y = a x + b by gradient descent on 8 points: the whole training step.
func.func @main(%a: tensor<f32> {ingot.state = "a"}, %b: tensor<f32> {ingot.state = "b"},
                %x: tensor<8xf32> {ingot.name = "x"}, %y: tensor<8xf32> {ingot.name = "y"},
                %lr: tensor<f32> {ingot.name = "lr"})
    -> (tensor<f32> {ingot.state = "a"}, tensor<f32> {ingot.state = "b"}, tensor<f32> {ingot.name = "loss"}) {
  %as = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %bs = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %ax = stablehlo.multiply %as, %x : tensor<8xf32>
  %line = stablehlo.add %ax, %bs : tensor<8xf32>
  %error = stablehlo.subtract %line, %y : tensor<8xf32>
  %ones = stablehlo.constant dense<1.0> : tensor<8xf32>
  %loss = stablehlo.dot_general %error, %error, contracting_dims = [0] x [0]
      : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  %da = stablehlo.dot_general %error, %x, contracting_dims = [0] x [0]
      : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  %db = stablehlo.dot_general %error, %ones, contracting_dims = [0] x [0]
      : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  %step_a = stablehlo.multiply %lr, %da : tensor<f32>
  %step_b = stablehlo.multiply %lr, %db : tensor<f32>
  %new_a = stablehlo.subtract %a, %step_a : tensor<f32>
  %new_b = stablehlo.subtract %b, %step_b : tensor<f32>
  return %new_a, %new_b, %loss : tensor<f32>, tensor<f32>, tensor<f32>
}
