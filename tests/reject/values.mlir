func.func @f(%x: tensor<f32>) {
  %0 = stablehlo.add %x, %y : tensor<f32>
  return
}
// error: 2:26: error: %y is not defined above
// -----
func.func @f(%x: tensor<f32>) {
  %x = stablehlo.abs %x : tensor<f32>
  return
}
// error: 2:3: error: %x is defined already
// -----
func.func @f(%x: tensor<f32>) {
  %0:2 = stablehlo.optimization_barrier %x, %x : tensor<f32>, tensor<f32>
  %1 = stablehlo.abs %0 : tensor<f32>
  return
}
// error: 3:22: error: %0 has 2 results; write %0#0 to %0#1
// -----
func.func @f(%x: tensor<f32>) {
  %0:2 = stablehlo.optimization_barrier %x, %x : tensor<f32>, tensor<f32>
  %1 = stablehlo.abs %0#2 : tensor<f32>
  return
}
// error: 3:24: error: %0 has 2 results
// -----
func.func @f(%x: tensor<f32>) {
  %0:3 = stablehlo.optimization_barrier %x, %x : tensor<f32>, tensor<f32>
  return
}
// error: 2:3: error: stablehlo.optimization_barrier has 2 results, 3 are named
// -----
func.func @f(%x: tensor<f32>) {
  %0 = stablehlo.abs %x : tensor<2xf32>
  return
}
// error: 2:22: error: %x is tensor<f32>, but stablehlo.abs says tensor<2xf32>
// -----
func.func @f(%x: tensor<f32>) {
  %0 = "stablehlo.abs"(%x) : (tensor<f32>) -> tensor<f64>
  return
}
// error: 2:8: error: stablehlo.abs: result 0 is tensor<f32>, but the text says tensor<f64>
// -----
func.func @f(%x: tensor<f32>) {
  %0 = "ingot.kernel"(%x) ({
  ^bb0(%a: tensor<f32>):
    ingot.yield %x : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  return
}
// error: 4:5: error: @f: ingot.yield: operand 0 is not defined above it
