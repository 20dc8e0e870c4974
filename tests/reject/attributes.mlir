func.func @f() attributes {a = } { return }
// error: 1:32: error: expected an attribute, found '}'
// -----
func.func @f() attributes {a = #missing} { return }
// error: 1:32: error: #missing is not defined in this text
// -----
func.func @f() attributes {a = 300 : i8} { return }
// error: 1:32: error: the integer does not fit i8
// -----
func.func @f() attributes {a = 1 : f32} { return }
// error: 1:32: error: a float needs a decimal point, or the hexadecimal bits of its type
// -----
func.func @f() attributes {a = 1.0 : i32} { return }
// error: 1:32: error: a float cannot have the type i32
// -----
func.func @f() attributes {a = "open} { return }
// error: 1:32: error: the string has no closing quote on its line
// -----
func.func @f() attributes {a = #foo.bar<(]>} { return }
// error: 1:42: error: expected ')', found ']'
// -----
func.func @f() attributes {a = array<i8: 200>} { return }
// error: 1:42: error: the integer does not fit i8
// -----
#a = 1
#a = 2
func.func @f() { return }
// error: 2:1: error: #a is defined twice
// -----
func.func @f() { return } loc(#nowhere)
// error: 1:31: error: #nowhere is not defined in this text
// -----
func.func @f() { return } loc("f.py":3)
// error: 1:39: error: expected ':', found ')'
// -----
func.func @f() { return } loc(callsite("a" "b"))
// error: 1:44: error: expected 'at', found '"b"'
// -----
func.func @f() { return } 
// error: 1:27: error: unexpected byte 0x01
