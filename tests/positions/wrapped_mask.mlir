// A mask whose bytes wrap to 0 where it is squared, and one that f32 has no number for: neither hides a product.
func.func @main(%q: tensor<3x96x8xf32> {ingot.example = dense<0.25> : tensor<3x96x8xf32>},
                %k: tensor<3x96x8xf32> {ingot.example = dense<0.5> : tensor<3x96x8xf32>}) -> (tensor<3x96x96xf32>, tensor<3x96x96xf32>) {
  %i = stablehlo.iota dim = 0 : tensor<96x96xi32>
  %j = stablehlo.iota dim = 1 : tensor<96x96xi32>
  %after = stablehlo.compare LT, %i, %j : (tensor<96x96xi32>, tensor<96x96xi32>) -> tensor<96x96xi1>
  %scores = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x96x8xf32>, tensor<3x96x8xf32>) -> tensor<3x96x96xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<3x96x96xf32>

  %sixteen = stablehlo.constant dense<16> : tensor<96x96xi8>
  %zero = stablehlo.constant dense<0> : tensor<96x96xi8>
  %byte = stablehlo.select %after, %sixteen, %zero : tensor<96x96xi1>, tensor<96x96xi8>
  %square = stablehlo.multiply %byte, %byte : tensor<96x96xi8>
  %wrapped = stablehlo.compare NE, %square, %zero : (tensor<96x96xi8>, tensor<96x96xi8>) -> tensor<96x96xi1>
  %hidden = stablehlo.broadcast_in_dim %wrapped, dims = [1, 2] : (tensor<96x96xi1>) -> tensor<3x96x96xi1>
  %first = stablehlo.select %hidden, %zeros, %scores : tensor<3x96x96xi1>, tensor<3x96x96xf32>

  %other = stablehlo.dot_general %k, %q, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x96x8xf32>, tensor<3x96x8xf32>) -> tensor<3x96x96xf32>
  %less = stablehlo.constant dense<-200.0> : tensor<96x96xf32>
  %none = stablehlo.constant dense<0.0> : tensor<96x96xf32>
  %score = stablehlo.select %after, %less, %none : tensor<96x96xi1>, tensor<96x96xf32>
  %weight = stablehlo.exponential %score : tensor<96x96xf32>
  %vanished = stablehlo.compare EQ, %weight, %none : (tensor<96x96xf32>, tensor<96x96xf32>) -> tensor<96x96xi1>
  %shown = stablehlo.broadcast_in_dim %vanished, dims = [1, 2] : (tensor<96x96xi1>) -> tensor<3x96x96xi1>
  %second = stablehlo.select %shown, %other, %zeros : tensor<3x96x96xi1>, tensor<3x96x96xf32>
  return %first, %second : tensor<3x96x96xf32>, tensor<3x96x96xf32>
}
