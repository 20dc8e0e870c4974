func.func @f() attributes {a = dense<[1, 2, 3]> : tensor<2xi32>} { return }
// error: 1:38: error: the list has 3 items, tensor<2xi32> needs 2 here
// -----
func.func @f() attributes {a = dense<[[1, 2], [3]]> : tensor<2x2xi32>} { return }
// error: 1:47: error: the list has 1 items, tensor<2x2xi32> needs 2 here
// -----
func.func @f() attributes {a = dense<256> : tensor<i8>} { return }
// error: 1:38: error: the integer does not fit i8
// -----
func.func @f() attributes {a = dense<-1> : tensor<ui8>} { return }
// error: 1:39: error: the integer does not fit ui8
// -----
func.func @f() attributes {a = dense<1.5> : tensor<i32>} { return }
// error: 1:38: error: expected an element of i32, found '1.5'
// -----
func.func @f() attributes {a = dense<1> : tensor<f32>} { return }
// error: 1:38: error: a float needs a decimal point, or the hexadecimal bits of its type
// -----
func.func @f() attributes {a = dense<0x1FFFFFFFF> : tensor<f32>} { return }
// error: 1:38: error: a float needs a decimal point, or the hexadecimal bits of its type
// -----
func.func @f() attributes {a = dense<true> : tensor<i32>} { return }
// error: 1:38: error: expected an element of i32, found 'true'
// -----
func.func @f() attributes {a = dense<> : tensor<2xi32>} { return }
// error: 1:38: error: dense<> is for tensors without elements, not tensor<2xi32>
// -----
func.func @f() attributes {a = dense<"0x0102"> : tensor<3xi8>} { return }
// error: 1:38: error: tensor<3xi8> has 3 bytes, the text gives 2
// -----
func.func @f() attributes {a = dense<"0xZZ"> : tensor<i8>} { return }
// error: 1:38: error: expected "0x..." with two digits a byte
// -----
func.func @f() attributes {a = dense<(1.0, 2.0, 3.0)> : tensor<complex<f32>>} { return }
// error: 1:47: error: expected ')', found ','
// -----
func.func @f() attributes {a = dense_resource<weights> : tensor<2xf32>} { return }
// error: 1:32: limit: dense_resource<...> is not supported yet; dense<...> is
