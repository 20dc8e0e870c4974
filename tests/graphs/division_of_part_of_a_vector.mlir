// Lanes that nobody reads must not divide
module {
  func.func @main() -> tensor<4x4x13x4xi32> {
    %0 = stablehlo.iota dim = 3 : tensor<4x3x5x5xi32>
    %1 = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.pad %0, %1, low = [0, 1, 0, -1], high = [0, 0, 0, 0], interior = [0, 0, 2, 0] : (tensor<4x3x5x5xi32>, tensor<i32>) -> tensor<4x4x13x4xi32>
    %3 = stablehlo.divide %2, %2 : tensor<4x4x13x4xi32>
    return %3 : tensor<4x4x13x4xi32>
  }
}
