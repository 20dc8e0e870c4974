// run: join_products
// What is made before a loop is not made again in each round.
func.func @main(%x: tensor<8x3xi32>, %w: tensor<3x8xi32>, %v: tensor<3x8xi32>, %h: tensor<8x8xi32>, %u: tensor<8x8xi32>) -> tensor<8x8xi32> {
  %limit = stablehlo.constant dense<3> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x3xi32>, tensor<3x8xi32>) -> tensor<8x8xi32>
  %1 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<8x3xi32>, tensor<3x8xi32>) -> tensor<8x8xi32>
  %2:2 = stablehlo.while(%i = %zero, %a = %h) : tensor<i32>, tensor<8x8xi32>
  cond {
    %3 = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %3 = stablehlo.dot_general %a, %u, contracting_dims = [1] x [0] : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi32>
    %4 = stablehlo.add %0, %3 : tensor<8x8xi32>
    %5 = stablehlo.add %4, %1 : tensor<8x8xi32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %5 : tensor<i32>, tensor<8x8xi32>
  }
  return %2#1 : tensor<8x8xi32>
}
// ---- expect
module {
  func.func @main(%x: tensor<8x3xi32>, %w: tensor<3x8xi32>, %v: tensor<3x8xi32>, %h: tensor<8x8xi32>, %u: tensor<8x8xi32>) -> tensor<8x8xi32> {
    %limit = stablehlo.constant dense<3> : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x3xi32>, tensor<3x8xi32>) -> tensor<8x8xi32>
    %1 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<8x3xi32>, tensor<3x8xi32>) -> tensor<8x8xi32>
    %2:2 = stablehlo.while(%i = %zero, %a = %h) : tensor<i32>, tensor<8x8xi32>
    cond {
      %3 = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %4 = stablehlo.dot_general %a, %u, contracting_dims = [1] x [0] : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi32>
      %5 = stablehlo.add %0, %4 : tensor<8x8xi32>
      %6 = stablehlo.add %5, %1 : tensor<8x8xi32>
      %7 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %7, %6 : tensor<i32>, tensor<8x8xi32>
    }
    return %2#1 : tensor<8x8xi32>
  }
}
