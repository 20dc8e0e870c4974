// A classifier of two layers, trained by gradient descent on the mean square error against one-hot labels.
module @two_layers {
  func.func public @init() -> (tensor<3x8xf32> {ingot.state = "w1"}, tensor<8x2xf32> {ingot.state = "w2"}, tensor<i32> {ingot.state = "step"}) {
    %0 = stablehlo.iota dim = 1 : tensor<3x8xf32>
    %1 = stablehlo.constant dense<[[-0.5], [0.25], [0.125]]> : tensor<3x1xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<3x1xf32>) -> tensor<3x8xf32>
    %3 = stablehlo.multiply %0, %2 : tensor<3x8xf32>
    %4 = stablehlo.constant dense<0.25> : tensor<8x2xf32>
    %5 = stablehlo.constant dense<0> : tensor<i32>
    return %3, %4, %5 : tensor<3x8xf32>, tensor<8x2xf32>, tensor<i32>
  }

  func.func public @train_step(%w1: tensor<3x8xf32> {ingot.state = "w1"}, %w2: tensor<8x2xf32> {ingot.state = "w2"}, %step: tensor<i32> {ingot.state = "step"}, %x: tensor<8x3xf32> {ingot.name = "x"}, %label: tensor<8xi32> {ingot.name = "label"}, %lr: tensor<f32> {ingot.name = "lr"}) -> (tensor<3x8xf32> {ingot.state = "w1"}, tensor<8x2xf32> {ingot.state = "w2"}, tensor<i32> {ingot.state = "step"}, tensor<f32> {ingot.name = "loss"}) {
    %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3x8xf32>) -> tensor<8x8xf32>
    %h = stablehlo.tanh %0 : tensor<8x8xf32>
    %y = stablehlo.dot_general %h, %w2, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    %1 = stablehlo.broadcast_in_dim %label, dims = [0] : (tensor<8xi32>) -> tensor<8x2xi32>
    %classes = stablehlo.constant dense<[[0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1]]> : tensor<8x2xi32>
    %2 = stablehlo.compare EQ, %1, %classes : (tensor<8x2xi32>, tensor<8x2xi32>) -> tensor<8x2xi1>
    %target = stablehlo.convert %2 : (tensor<8x2xi1>) -> tensor<8x2xf32>
    %error = stablehlo.subtract %y, %target : tensor<8x2xf32>
    %scale = stablehlo.constant dense<0.0625> : tensor<8x2xf32>
    %d = stablehlo.multiply %error, %scale : tensor<8x2xf32>
    %3 = stablehlo.multiply %d, %error : tensor<8x2xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %loss = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x2xf32>, tensor<f32>) -> tensor<f32>
    %g2 = stablehlo.dot_general %h, %d, contracting_dims = [0] x [0] : (tensor<8x8xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    %lr2 = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %4 = stablehlo.multiply %g2, %lr2 : tensor<8x2xf32>
    %new2 = stablehlo.subtract %w2, %4 : tensor<8x2xf32>
    %5 = stablehlo.dot_general %d, %w2, contracting_dims = [1] x [1] : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x8xf32>
    %6 = stablehlo.multiply %h, %h : tensor<8x8xf32>
    %one = stablehlo.constant dense<1.0> : tensor<8x8xf32>
    %7 = stablehlo.subtract %one, %6 : tensor<8x8xf32>
    %8 = stablehlo.multiply %5, %7 : tensor<8x8xf32>
    %g1 = stablehlo.dot_general %x, %8, contracting_dims = [0] x [0] : (tensor<8x3xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
    %lr1 = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %9 = stablehlo.multiply %g1, %lr1 : tensor<3x8xf32>
    %new1 = stablehlo.subtract %w1, %9 : tensor<3x8xf32>
    %i = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %step, %i : tensor<i32>
    return %new1, %new2, %next, %loss : tensor<3x8xf32>, tensor<8x2xf32>, tensor<i32>, tensor<f32>
  }

  func.func public @predict(%w1: tensor<3x8xf32> {ingot.state = "w1"}, %w2: tensor<8x2xf32> {ingot.state = "w2"}, %x: tensor<8x3xf32> {ingot.name = "x"}) -> (tensor<8x2xf32> {ingot.name = "scores"}) {
    %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3x8xf32>) -> tensor<8x8xf32>
    %h = stablehlo.tanh %0 : tensor<8x8xf32>
    %y = stablehlo.dot_general %h, %w2, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    return %y : tensor<8x2xf32>
  }
}
