// A row of one stack follows from that of another, which has fewer dimensions, and the other way round.
module {
  func.func @main(%x: tensor<4xf32> {ingot.example = dense<[0.5, -1.25, 2.0, 0.125]> : tensor<4xf32>}) -> tensor<4xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %five = stablehlo.constant dense<5> : tensor<i32>
    %deep = stablehlo.constant dense<0.0> : tensor<5x1x4xf32>
    %wide = stablehlo.constant dense<0.0> : tensor<5x4xf32>
    %0:5 = stablehlo.while(%i = %zero, %c = %x, %a = %wide, %b = %deep, %d = %wide) : tensor<i32>, tensor<4xf32>, tensor<5x4xf32>, tensor<5x1x4xf32>, tensor<5x4xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.sine %c : tensor<4xf32>
      %2 = stablehlo.multiply %1, %1 : tensor<4xf32>
      %3 = stablehlo.negate %2 : tensor<4xf32>
      %4 = stablehlo.reshape %1 : (tensor<4xf32>) -> tensor<1x4xf32>
      %5 = stablehlo.reshape %2 : (tensor<4xf32>) -> tensor<1x1x4xf32>
      %6 = stablehlo.reshape %3 : (tensor<4xf32>) -> tensor<1x4xf32>
      %7 = stablehlo.dynamic_update_slice %a, %4, %i, %zero : (tensor<5x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<5x4xf32>
      %8 = stablehlo.dynamic_update_slice %b, %5, %i, %zero, %zero : (tensor<5x1x4xf32>, tensor<1x1x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x1x4xf32>
      %9 = stablehlo.dynamic_update_slice %d, %6, %i, %zero : (tensor<5x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<5x4xf32>
      %10 = stablehlo.add %1, %3 : tensor<4xf32>
      %11 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %11, %10, %7, %8, %9 : tensor<i32>, tensor<4xf32>, tensor<5x4xf32>, tensor<5x1x4xf32>, tensor<5x4xf32>
    }
    %12:2 = stablehlo.while(%i = %zero, %c = %0#1) : tensor<i32>, tensor<4xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.dynamic_slice %0#2, %i, %zero, sizes = [1, 4] : (tensor<5x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
      %2 = stablehlo.dynamic_slice %0#3, %i, %zero, %zero, sizes = [1, 1, 4] : (tensor<5x1x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x4xf32>
      %3 = stablehlo.dynamic_slice %0#4, %i, %zero, sizes = [1, 4] : (tensor<5x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
      %4 = stablehlo.reshape %1 : (tensor<1x4xf32>) -> tensor<4xf32>
      %5 = stablehlo.reshape %2 : (tensor<1x1x4xf32>) -> tensor<4xf32>
      %6 = stablehlo.reshape %3 : (tensor<1x4xf32>) -> tensor<4xf32>
      %7 = stablehlo.multiply %c, %5 : tensor<4xf32>
      %8 = stablehlo.subtract %7, %4 : tensor<4xf32>
      %9 = stablehlo.add %8, %6 : tensor<4xf32>
      %10 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %10, %9 : tensor<i32>, tensor<4xf32>
    }
    return %12#1 : tensor<4xf32>
  }
}
