// Which of four shapes an image of 16 x 16 shows: two convolutions and a linear layer, on eight images at once. The
// training step is made by `ingot compile --train`.
module @shapes {
  func.func public @predict(%conv1: tensor<8x1x3x3xf32> {ingot.state = "conv1.weight"}, %b1: tensor<8xf32> {ingot.state = "conv1.bias"},
                            %conv2: tensor<16x8x3x3xf32> {ingot.state = "conv2.weight"}, %b2: tensor<16xf32> {ingot.state = "conv2.bias"},
                            %linear: tensor<256x4xf32> {ingot.state = "linear.weight"}, %b3: tensor<4xf32> {ingot.state = "linear.bias"},
                            %images: tensor<8x1x16x16xf32> {ingot.name = "images"}) -> (tensor<8x4xf32> {ingot.name = "scores"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %c1 = stablehlo.convolution(%images, %conv1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<8x1x16x16xf32>, tensor<8x1x3x3xf32>) -> tensor<8x8x8x8xf32>
    %cb1 = stablehlo.broadcast_in_dim %b1, dims = [1] : (tensor<8xf32>) -> tensor<8x8x8x8xf32>
    %z1 = stablehlo.add %c1, %cb1 : tensor<8x8x8x8xf32>
    %zeros1 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<8x8x8x8xf32>
    %h1 = stablehlo.maximum %z1, %zeros1 : tensor<8x8x8x8xf32>
    %c2 = stablehlo.convolution(%h1, %conv2) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<8x8x8x8xf32>, tensor<16x8x3x3xf32>) -> tensor<8x16x4x4xf32>
    %cb2 = stablehlo.broadcast_in_dim %b2, dims = [1] : (tensor<16xf32>) -> tensor<8x16x4x4xf32>
    %z2 = stablehlo.add %c2, %cb2 : tensor<8x16x4x4xf32>
    %zeros2 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<8x16x4x4xf32>
    %h2 = stablehlo.maximum %z2, %zeros2 : tensor<8x16x4x4xf32>
    %flat = stablehlo.reshape %h2 : (tensor<8x16x4x4xf32>) -> tensor<8x256xf32>
    %product = stablehlo.dot_general %flat, %linear, contracting_dims = [1] x [0] : (tensor<8x256xf32>, tensor<256x4xf32>) -> tensor<8x4xf32>
    %cb3 = stablehlo.broadcast_in_dim %b3, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
    %scores = stablehlo.add %product, %cb3 : tensor<8x4xf32>
    return %scores : tensor<8x4xf32>
  }
}
