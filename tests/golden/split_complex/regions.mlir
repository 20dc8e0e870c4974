// run: split_complex
// A loop that carries complex numbers, a product of all elements, a sort by the imaginary parts.
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %unit = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
  %z = stablehlo.complex %x, %y : tensor<4xcomplex<f32>>
  %0:2 = stablehlo.while(%i = %zero, %w = %z) : tensor<i32>, tensor<4xcomplex<f32>>
  cond {
    %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.add %i, %one : tensor<i32>
    %3 = stablehlo.add %w, %z : tensor<4xcomplex<f32>>
    stablehlo.return %2, %3 : tensor<i32>, tensor<4xcomplex<f32>>
  }
  %4 = stablehlo.reduce(%0#1 init: %unit) applies stablehlo.multiply across dimensions = [0] : (tensor<4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  %5 = "stablehlo.sort"(%0#1) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %6 = stablehlo.imag %a : (tensor<complex<f32>>) -> tensor<f32>
    %7 = stablehlo.imag %b : (tensor<complex<f32>>) -> tensor<f32>
    %8 = stablehlo.compare LT, %6, %7 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %8 : tensor<i1>
  }) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %9 = stablehlo.real %4 : (tensor<complex<f32>>) -> tensor<f32>
  %10 = stablehlo.real %5 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %9, %10 : tensor<f32>, tensor<4xf32>
}
// ---- expect
module {
  func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2:3 = stablehlo.while(%i = %zero, %w = %x, %arg0 = %y) : tensor<i32>, tensor<4xf32>, tensor<4xf32>
    cond {
      %3 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %4 = stablehlo.add %i, %one : tensor<i32>
      %5 = stablehlo.add %w, %x : tensor<4xf32>
      %6 = stablehlo.add %arg0, %y : tensor<4xf32>
      stablehlo.return %4, %5, %6 : tensor<i32>, tensor<4xf32>, tensor<4xf32>
    }
    %7:2 = stablehlo.reduce(%2#1 init: %0), (%2#2 init: %1) across dimensions = [0] : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
      reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<f32>, %arg4: tensor<f32>) {
      %8 = stablehlo.multiply %arg2, %arg4 : tensor<f32>
      %9 = stablehlo.negate %8 : tensor<f32>
      %10 = ingot.fma %arg1, %arg3, %9 : tensor<f32>
      %11 = stablehlo.multiply %arg1, %arg4 : tensor<f32>
      %12 = ingot.fma %arg2, %arg3, %11 : tensor<f32>
      stablehlo.return %10, %12 : tensor<f32>, tensor<f32>
    }
    %13:2 = "stablehlo.sort"(%2#1, %2#2) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %arg5: tensor<f32>, %arg6: tensor<f32>):
      %14 = stablehlo.compare LT, %arg5, %arg6 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    }) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    return %7#0, %13#0 : tensor<f32>, tensor<4xf32>
  }
}
