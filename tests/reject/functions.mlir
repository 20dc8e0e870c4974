// error: 1:1: error: the text has no function
// -----
func.func @f() { return }
func.func @f() { return }
// error: 2:11: error: function @f is defined twice
// -----
func.func private @f(%x: tensor<f32>) -> tensor<f32>
// error: 1:1: limit: function @f has no body; functions from elsewhere are not supported
// -----
func.func @f(%x: tensor<f32>) -> tensor<f64> {
  return %x : tensor<f32>
}
// error: 2:3: error: @f: func.return: result 0 is declared as tensor<f64>, but tensor<f32> is returned
// -----
func.func @f(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  return %x : tensor<f32>
}
// error: 2:3: error: @f: func.return: return must have one operand for each of the function's results
// -----
func.func @f(%x: tensor<f32>) {
  %0 = call @g(%x) : (tensor<f32>) -> tensor<f32>
  return
}
// error: 2:8: error: @f: func.call: there is no function @g
// -----
func.func @f(%x: tensor<f32>) {
  %0 = call @g(%x) : (tensor<f32>) -> tensor<f32>
  return
}
func.func @g(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
// error: 2:8: error: @f: func.call: argument 0 of @g is tensor<2xf32>, not tensor<f32>
// -----
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @f(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// error: 1:1: error: @f: calls itself, directly or through others, or a function that does
// -----
module { func.func @f() { return } }
module { }
// error: 2:1: error: expected the end of the text: a file has one module, found 'module'
// -----
module {
  module { }
}
// error: 2:3: limit: a module inside a module, or a second one, is not supported
// -----
module @m { func.func @f() { return }
// error: 2:1: error: expected func.func, found the end of the text
// -----
func.func @f() { return }
{-# dialect_resources: { } #-}
// error: 2:1: limit: resources ({-# ... #-}) are not supported yet; dense<...> literals are
// -----
func.func @f(%x tensor<f32>) { return }
// error: 1:17: error: expected ':', found 'tensor'
// -----
func.func f() { return }
// error: 1:11: error: expected a symbol like @name, found 'f'
