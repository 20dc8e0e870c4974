// run: widen_floats
// Moves act on bits, sums of a dot on f32; what two ops read is decoded once.
func.func @main(%x: tensor<4x3xf8E4M3FN>, %y: tensor<4x2xf8E4M3FN>, %p: tensor<i1>) -> (tensor<3x2xf32>, tensor<3x4xf8E4M3FN>) {
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x3xf8E4M3FN>) -> tensor<3x4xf8E4M3FN>
  %c = stablehlo.constant dense<2.0> : tensor<3x4xf8E4M3FN>
  %s = stablehlo.select %p, %t, %c : tensor<i1>, tensor<3x4xf8E4M3FN>
  %d = stablehlo.dot_general %s, %y, contracting_dims = [1] x [0] : (tensor<3x4xf8E4M3FN>, tensor<4x2xf8E4M3FN>) -> tensor<3x2xf32>
  return %d, %s : tensor<3x2xf32>, tensor<3x4xf8E4M3FN>
}
// ---- expect
module {
  func.func @main(%x: tensor<4x3xui8>, %y: tensor<4x2xui8>, %p: tensor<i1>) -> (tensor<3x2xf32>, tensor<3x4xui8>) {
    %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x3xui8>) -> tensor<3x4xui8>
    %c = stablehlo.constant dense<64> : tensor<3x4xui8>
    %s = stablehlo.select %p, %t, %c : tensor<i1>, tensor<3x4xui8>
    %0 = stablehlo.convert %s : (tensor<3x4xui8>) -> tensor<3x4xui32>
    %1 = stablehlo.constant dense<127> : tensor<3x4xui32>
    %2 = stablehlo.and %0, %1 : tensor<3x4xui32>
    %3 = stablehlo.constant dense<20> : tensor<3x4xui32>
    %4 = stablehlo.shift_left %2, %3 : tensor<3x4xui32>
    %5 = stablehlo.constant dense<1006632960> : tensor<3x4xui32>
    %6 = stablehlo.add %4, %5 : tensor<3x4xui32>
    %7 = stablehlo.convert %2 : (tensor<3x4xui32>) -> tensor<3x4xf32>
    %8 = stablehlo.constant dense<1.953125e-03> : tensor<3x4xf32>
    %9 = stablehlo.multiply %7, %8 : tensor<3x4xf32>
    %10 = stablehlo.bitcast_convert %9 : (tensor<3x4xf32>) -> tensor<3x4xui32>
    %11 = stablehlo.constant dense<8> : tensor<3x4xui32>
    %12 = stablehlo.compare LT, %2, %11 : (tensor<3x4xui32>, tensor<3x4xui32>) -> tensor<3x4xi1>
    %13 = stablehlo.select %12, %10, %6 : tensor<3x4xi1>, tensor<3x4xui32>
    %14 = stablehlo.constant dense<127> : tensor<3x4xui32>
    %15 = stablehlo.compare EQ, %2, %14 : (tensor<3x4xui32>, tensor<3x4xui32>) -> tensor<3x4xi1>
    %16 = stablehlo.constant dense<2143289344> : tensor<3x4xui32>
    %17 = stablehlo.select %15, %16, %13 : tensor<3x4xi1>, tensor<3x4xui32>
    %18 = stablehlo.constant dense<128> : tensor<3x4xui32>
    %19 = stablehlo.and %0, %18 : tensor<3x4xui32>
    %20 = stablehlo.constant dense<24> : tensor<3x4xui32>
    %21 = stablehlo.shift_left %19, %20 : tensor<3x4xui32>
    %22 = stablehlo.or %17, %21 : tensor<3x4xui32>
    %23 = stablehlo.bitcast_convert %22 : (tensor<3x4xui32>) -> tensor<3x4xf32>
    %24 = stablehlo.convert %y : (tensor<4x2xui8>) -> tensor<4x2xui32>
    %25 = stablehlo.constant dense<127> : tensor<4x2xui32>
    %26 = stablehlo.and %24, %25 : tensor<4x2xui32>
    %27 = stablehlo.constant dense<20> : tensor<4x2xui32>
    %28 = stablehlo.shift_left %26, %27 : tensor<4x2xui32>
    %29 = stablehlo.constant dense<1006632960> : tensor<4x2xui32>
    %30 = stablehlo.add %28, %29 : tensor<4x2xui32>
    %31 = stablehlo.convert %26 : (tensor<4x2xui32>) -> tensor<4x2xf32>
    %32 = stablehlo.constant dense<1.953125e-03> : tensor<4x2xf32>
    %33 = stablehlo.multiply %31, %32 : tensor<4x2xf32>
    %34 = stablehlo.bitcast_convert %33 : (tensor<4x2xf32>) -> tensor<4x2xui32>
    %35 = stablehlo.constant dense<8> : tensor<4x2xui32>
    %36 = stablehlo.compare LT, %26, %35 : (tensor<4x2xui32>, tensor<4x2xui32>) -> tensor<4x2xi1>
    %37 = stablehlo.select %36, %34, %30 : tensor<4x2xi1>, tensor<4x2xui32>
    %38 = stablehlo.constant dense<127> : tensor<4x2xui32>
    %39 = stablehlo.compare EQ, %26, %38 : (tensor<4x2xui32>, tensor<4x2xui32>) -> tensor<4x2xi1>
    %40 = stablehlo.constant dense<2143289344> : tensor<4x2xui32>
    %41 = stablehlo.select %39, %40, %37 : tensor<4x2xi1>, tensor<4x2xui32>
    %42 = stablehlo.constant dense<128> : tensor<4x2xui32>
    %43 = stablehlo.and %24, %42 : tensor<4x2xui32>
    %44 = stablehlo.constant dense<24> : tensor<4x2xui32>
    %45 = stablehlo.shift_left %43, %44 : tensor<4x2xui32>
    %46 = stablehlo.or %41, %45 : tensor<4x2xui32>
    %47 = stablehlo.bitcast_convert %46 : (tensor<4x2xui32>) -> tensor<4x2xf32>
    %d = stablehlo.dot_general %23, %47, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
    return %d, %s : tensor<3x2xf32>, tensor<3x4xui8>
  }
}
