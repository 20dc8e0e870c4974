func.func @f(%x: tensor<f32>) {
  %0 = stablehlo.tahn %x : tensor<f32>
  return
}
// error: 2:8: error: unknown op stablehlo.tahn; did you mean stablehlo.tanh?
// -----
func.func @f(%x: tensor<f32>) {
  %0 = "my.op"(%x) : (tensor<f32>) -> tensor<f32>
  return
}
// error: 2:8: error: unknown op my.op
// -----
func.func @f(%x: tensor<f32>) {
  %0 = stablehlo.abs %x
  return
}
// error: 3:3: error: expected ':', found 'return'
// -----
func.func @f(%x: tensor<f32>) {
  %0 = stablehlo.compare LT %x, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return
}
// error: 2:29: error: expected ',', found '%x'
// -----
func.func @f(%x: tensor<f32>) {
  "cf.br"(%x)[^bb1] : (tensor<f32>) -> ()
}
// error: 2:3: error: unknown op cf.br
// -----
func.func @f(%x: tensor<f32>) {
  return
^bb1:
  return
}
// error: 3:1: limit: a region with several blocks is not supported
// -----
func.func @f(%x: tensor<f32>) {
  return
  return
}
// error: 3:3: error: expected '}': nothing may follow func.return
// -----
func.func @f(%x: tensor<f32>) {
  %0 = stablehlo.abs %x : tensor<f32>
}
// error: 1:31: error: the block that starts here must end in a return
// -----
func.func @f(%x: tensor<f32>) {
  %0 = stablehlo.abs %x {a = 1, a = 2} : tensor<f32>
  return
}
// error: 2:33: error: attribute a is given twice
// -----
func.func @f(%x: tensor<f32>) {
  %0 = ingot.kernel %x : tensor<f32>
  return
}
// error: 2:8: error: ingot.kernel is written in quotes: "ingot.kernel"(operands) ... : (types) -> types
// -----
func.func @f(%x: tensor<f32>) {
  %0 = stablehlo.async_start %x : tensor<f32>
  return
}
// error: 2:8: limit: op stablehlo.async_start is not supported yet
// -----
func.func @f(%x: tensor<f32>) {
  %0 = "stablehlo.add"(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = "stablehlo.abs"(%0)
  return
}
// error: 4:3: error: expected ':' and the types of operands and results, found 'return'
// -----
func.func @f(%t: !stablehlo.token) {
  %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
  return
}
// error: 2:10: limit: stablehlo.infeed reads from the host while the program runs; make what it reads an argument
// -----
func.func @f(%x: tensor<2xi64>, %t: !stablehlo.token) {
  %0 = "stablehlo.outfeed"(%x, %t) : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
  return
}
// error: 2:8: limit: stablehlo.outfeed writes to the host while the program runs; return what it writes
// -----
func.func @f() {
  %0:2 = "interpreter.run_parallel"() {programs = [[@f, @f]]} : () -> (tensor<ui32>, tensor<ui32>)
  return
}
// error: 2:10: limit: interpreter.run_parallel runs several processes, or what they exchange with a host; ingot compiles a program for one
