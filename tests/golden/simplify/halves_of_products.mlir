// run: simplify, dce
// The halves of a product of 32-bit numbers, widened for it, are ops of 32 bits. Not so where a constant is too large,
// where the shift is another, or where what is widened has another type.
func.func @main(%x: tensor<4xui32>, %y: tensor<4xi32>, %z: tensor<4xui16>) -> (tensor<4xui32>, tensor<4xui32>, tensor<4xi32>, tensor<4xui32>, tensor<4xui32>, tensor<4xui32>) {
  %c = stablehlo.constant dense<3528531795> : tensor<4xui64>
  %large = stablehlo.constant dense<4294967296> : tensor<4xui64>
  %n = stablehlo.constant dense<32> : tensor<4xui64>
  %m = stablehlo.constant dense<31> : tensor<4xui64>
  %wide = stablehlo.convert %x : (tensor<4xui32>) -> tensor<4xui64>
  %product = stablehlo.multiply %wide, %c : tensor<4xui64>
  %shifted = stablehlo.shift_right_logical %product, %n : tensor<4xui64>
  %high = stablehlo.convert %shifted : (tensor<4xui64>) -> tensor<4xui32>
  %low = stablehlo.convert %product : (tensor<4xui64>) -> tensor<4xui32>
  %signed = stablehlo.convert %y : (tensor<4xi32>) -> tensor<4xui64>
  %square = stablehlo.multiply %signed, %signed : tensor<4xui64>
  %square_shifted = stablehlo.shift_right_logical %square, %n : tensor<4xui64>
  %square_high = stablehlo.convert %square_shifted : (tensor<4xui64>) -> tensor<4xi32>
  %product_of_large = stablehlo.multiply %wide, %large : tensor<4xui64>
  %low_of_large = stablehlo.convert %product_of_large : (tensor<4xui64>) -> tensor<4xui32>
  %middle = stablehlo.shift_right_logical %product, %m : tensor<4xui64>
  %middle_low = stablehlo.convert %middle : (tensor<4xui64>) -> tensor<4xui32>
  %short = stablehlo.convert %z : (tensor<4xui16>) -> tensor<4xui64>
  %mixed = stablehlo.multiply %short, %wide : tensor<4xui64>
  %mixed_low = stablehlo.convert %mixed : (tensor<4xui64>) -> tensor<4xui32>
  return %high, %low, %square_high, %low_of_large, %middle_low, %mixed_low : tensor<4xui32>, tensor<4xui32>, tensor<4xi32>, tensor<4xui32>, tensor<4xui32>, tensor<4xui32>
}
// ---- expect
module {
  func.func @main(%x: tensor<4xui32>, %y: tensor<4xi32>, %z: tensor<4xui16>) -> (tensor<4xui32>, tensor<4xui32>, tensor<4xi32>, tensor<4xui32>, tensor<4xui32>, tensor<4xui32>) {
    %c = stablehlo.constant dense<3528531795> : tensor<4xui64>
    %large = stablehlo.constant dense<4294967296> : tensor<4xui64>
    %m = stablehlo.constant dense<31> : tensor<4xui64>
    %wide = stablehlo.convert %x : (tensor<4xui32>) -> tensor<4xui64>
    %product = stablehlo.multiply %wide, %c : tensor<4xui64>
    %0 = stablehlo.constant dense<3528531795> : tensor<4xui32>
    %high = chlo.mulhi %x, %0 : tensor<4xui32>, tensor<4xui32> -> tensor<4xui32>
    %1 = stablehlo.constant dense<3528531795> : tensor<4xui32>
    %low = stablehlo.multiply %x, %1 : tensor<4xui32>
    %square_high = chlo.mulhi %y, %y : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
    %product_of_large = stablehlo.multiply %wide, %large : tensor<4xui64>
    %low_of_large = stablehlo.convert %product_of_large : (tensor<4xui64>) -> tensor<4xui32>
    %middle = stablehlo.shift_right_logical %product, %m : tensor<4xui64>
    %middle_low = stablehlo.convert %middle : (tensor<4xui64>) -> tensor<4xui32>
    %short = stablehlo.convert %z : (tensor<4xui16>) -> tensor<4xui64>
    %mixed = stablehlo.multiply %short, %wide : tensor<4xui64>
    %mixed_low = stablehlo.convert %mixed : (tensor<4xui64>) -> tensor<4xui32>
    return %high, %low, %square_high, %low_of_large, %middle_low, %mixed_low : tensor<4xui32>, tensor<4xui32>, tensor<4xi32>, tensor<4xui32>, tensor<4xui32>, tensor<4xui32>
  }
}
