// run: widen_floats
// One row a type: the bits of what its greatest values and NaNs are differ.
func.func @to_f32(%x: tensor<4xf8E4M3FN>) -> tensor<4xf32> {
  %0 = stablehlo.convert %x : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @from_f32(%x: tensor<4xf32>) -> tensor<4xf8E5M2> {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}
func.func @from_f64(%x: tensor<4xf64>) -> tensor<4xf8E4M3FNUZ> {
  %0 = stablehlo.convert %x : (tensor<4xf64>) -> tensor<4xf8E4M3FNUZ>
  return %0 : tensor<4xf8E4M3FNUZ>
}
func.func @without_nan(%x: tensor<4xf32>) -> tensor<4xf4E2M1FN> {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf4E2M1FN>
  return %0 : tensor<4xf4E2M1FN>
}
func.func @powers(%x: tensor<4xf8E8M0FNU>) -> tensor<4xf8E8M0FNU> {
  %0 = stablehlo.add %x, %x : tensor<4xf8E8M0FNU>
  return %0 : tensor<4xf8E8M0FNU>
}
// ---- expect
module {
  func.func @to_f32(%x: tensor<4xui8>) -> tensor<4xf32> {
    %0 = stablehlo.convert %x : (tensor<4xui8>) -> tensor<4xui32>
    %1 = stablehlo.constant dense<127> : tensor<4xui32>
    %2 = stablehlo.and %0, %1 : tensor<4xui32>
    %3 = stablehlo.constant dense<20> : tensor<4xui32>
    %4 = stablehlo.shift_left %2, %3 : tensor<4xui32>
    %5 = stablehlo.constant dense<1006632960> : tensor<4xui32>
    %6 = stablehlo.add %4, %5 : tensor<4xui32>
    %7 = stablehlo.convert %2 : (tensor<4xui32>) -> tensor<4xf32>
    %8 = stablehlo.constant dense<1.953125e-03> : tensor<4xf32>
    %9 = stablehlo.multiply %7, %8 : tensor<4xf32>
    %10 = stablehlo.bitcast_convert %9 : (tensor<4xf32>) -> tensor<4xui32>
    %11 = stablehlo.constant dense<8> : tensor<4xui32>
    %12 = stablehlo.compare LT, %2, %11 : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
    %13 = stablehlo.select %12, %10, %6 : tensor<4xi1>, tensor<4xui32>
    %14 = stablehlo.constant dense<127> : tensor<4xui32>
    %15 = stablehlo.compare EQ, %2, %14 : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
    %16 = stablehlo.constant dense<2143289344> : tensor<4xui32>
    %17 = stablehlo.select %15, %16, %13 : tensor<4xi1>, tensor<4xui32>
    %18 = stablehlo.constant dense<128> : tensor<4xui32>
    %19 = stablehlo.and %0, %18 : tensor<4xui32>
    %20 = stablehlo.constant dense<24> : tensor<4xui32>
    %21 = stablehlo.shift_left %19, %20 : tensor<4xui32>
    %22 = stablehlo.or %17, %21 : tensor<4xui32>
    %23 = stablehlo.bitcast_convert %22 : (tensor<4xui32>) -> tensor<4xf32>
    return %23 : tensor<4xf32>
  }
  func.func @from_f32(%x: tensor<4xf32>) -> tensor<4xui8> {
    %0 = stablehlo.abs %x : tensor<4xf32>
    %1 = stablehlo.bitcast_convert %0 : (tensor<4xf32>) -> tensor<4xui32>
    %2 = stablehlo.constant dense<21> : tensor<4xui32>
    %3 = stablehlo.shift_right_logical %1, %2 : tensor<4xui32>
    %4 = stablehlo.constant dense<1> : tensor<4xui32>
    %5 = stablehlo.and %3, %4 : tensor<4xui32>
    %6 = stablehlo.constant dense<1048575> : tensor<4xui32>
    %7 = stablehlo.add %5, %6 : tensor<4xui32>
    %8 = stablehlo.add %1, %7 : tensor<4xui32>
    %9 = stablehlo.constant dense<21> : tensor<4xui32>
    %10 = stablehlo.shift_right_logical %8, %9 : tensor<4xui32>
    %11 = stablehlo.constant dense<448> : tensor<4xui32>
    %12 = stablehlo.subtract %10, %11 : tensor<4xui32>
    %13 = stablehlo.constant dense<6.553600e+04> : tensor<4xf32>
    %14 = stablehlo.multiply %0, %13 : tensor<4xf32>
    %15 = stablehlo.round_nearest_even %14 : tensor<4xf32>
    %16 = stablehlo.convert %15 : (tensor<4xf32>) -> tensor<4xui32>
    %17 = stablehlo.constant dense<6.1035156e-05> : tensor<4xf32>
    %18 = stablehlo.compare LT, %0, %17 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %19 = stablehlo.select %18, %16, %12 : tensor<4xi1>, tensor<4xui32>
    %20 = stablehlo.constant dense<123> : tensor<4xui32>
    %21 = stablehlo.compare LE, %19, %20 : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
    %22 = stablehlo.constant dense<124> : tensor<4xui32>
    %23 = stablehlo.constant dense<126> : tensor<4xui32>
    %24 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xui32>
    %25 = stablehlo.constant dense<31> : tensor<4xui32>
    %26 = stablehlo.shift_right_logical %24, %25 : tensor<4xui32>
    %27 = stablehlo.constant dense<7> : tensor<4xui32>
    %28 = stablehlo.shift_left %26, %27 : tensor<4xui32>
    %29 = stablehlo.select %21, %19, %22 : tensor<4xi1>, tensor<4xui32>
    %30 = stablehlo.or %29, %28 : tensor<4xui32>
    %31 = stablehlo.compare EQ, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %32 = stablehlo.select %31, %30, %23 : tensor<4xi1>, tensor<4xui32>
    %33 = stablehlo.convert %32 : (tensor<4xui32>) -> tensor<4xui8>
    return %33 : tensor<4xui8>
  }
  func.func @from_f64(%x: tensor<4xf64>) -> tensor<4xui8> {
    %0 = stablehlo.abs %x : tensor<4xf64>
    %1 = stablehlo.bitcast_convert %0 : (tensor<4xf64>) -> tensor<4xui64>
    %2 = stablehlo.constant dense<49> : tensor<4xui64>
    %3 = stablehlo.shift_right_logical %1, %2 : tensor<4xui64>
    %4 = stablehlo.constant dense<1> : tensor<4xui64>
    %5 = stablehlo.and %3, %4 : tensor<4xui64>
    %6 = stablehlo.constant dense<281474976710655> : tensor<4xui64>
    %7 = stablehlo.add %5, %6 : tensor<4xui64>
    %8 = stablehlo.add %1, %7 : tensor<4xui64>
    %9 = stablehlo.constant dense<49> : tensor<4xui64>
    %10 = stablehlo.shift_right_logical %8, %9 : tensor<4xui64>
    %11 = stablehlo.constant dense<8120> : tensor<4xui64>
    %12 = stablehlo.subtract %10, %11 : tensor<4xui64>
    %13 = stablehlo.constant dense<1.024000e+03> : tensor<4xf64>
    %14 = stablehlo.multiply %0, %13 : tensor<4xf64>
    %15 = stablehlo.round_nearest_even %14 : tensor<4xf64>
    %16 = stablehlo.convert %15 : (tensor<4xf64>) -> tensor<4xui64>
    %17 = stablehlo.constant dense<7.812500e-03> : tensor<4xf64>
    %18 = stablehlo.compare LT, %0, %17 : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
    %19 = stablehlo.select %18, %16, %12 : tensor<4xi1>, tensor<4xui64>
    %20 = stablehlo.constant dense<127> : tensor<4xui64>
    %21 = stablehlo.compare LE, %19, %20 : (tensor<4xui64>, tensor<4xui64>) -> tensor<4xi1>
    %22 = stablehlo.constant dense<128> : tensor<4xui64>
    %23 = stablehlo.constant dense<128> : tensor<4xui64>
    %24 = stablehlo.bitcast_convert %x : (tensor<4xf64>) -> tensor<4xui64>
    %25 = stablehlo.constant dense<63> : tensor<4xui64>
    %26 = stablehlo.shift_right_logical %24, %25 : tensor<4xui64>
    %27 = stablehlo.constant dense<7> : tensor<4xui64>
    %28 = stablehlo.shift_left %26, %27 : tensor<4xui64>
    %29 = stablehlo.constant dense<0> : tensor<4xui64>
    %30 = stablehlo.compare EQ, %19, %29 : (tensor<4xui64>, tensor<4xui64>) -> tensor<4xi1>
    %31 = stablehlo.or %19, %28 : tensor<4xui64>
    %32 = stablehlo.select %30, %19, %31 : tensor<4xi1>, tensor<4xui64>
    %33 = stablehlo.select %21, %32, %23 : tensor<4xi1>, tensor<4xui64>
    %34 = stablehlo.convert %33 : (tensor<4xui64>) -> tensor<4xui8>
    return %34 : tensor<4xui8>
  }
  func.func @without_nan(%x: tensor<4xf32>) -> tensor<4xui4> {
    %0 = stablehlo.abs %x : tensor<4xf32>
    %1 = stablehlo.bitcast_convert %0 : (tensor<4xf32>) -> tensor<4xui32>
    %2 = stablehlo.constant dense<22> : tensor<4xui32>
    %3 = stablehlo.shift_right_logical %1, %2 : tensor<4xui32>
    %4 = stablehlo.constant dense<1> : tensor<4xui32>
    %5 = stablehlo.and %3, %4 : tensor<4xui32>
    %6 = stablehlo.constant dense<2097151> : tensor<4xui32>
    %7 = stablehlo.add %5, %6 : tensor<4xui32>
    %8 = stablehlo.add %1, %7 : tensor<4xui32>
    %9 = stablehlo.constant dense<22> : tensor<4xui32>
    %10 = stablehlo.shift_right_logical %8, %9 : tensor<4xui32>
    %11 = stablehlo.constant dense<252> : tensor<4xui32>
    %12 = stablehlo.subtract %10, %11 : tensor<4xui32>
    %13 = stablehlo.constant dense<2.000000e+00> : tensor<4xf32>
    %14 = stablehlo.multiply %0, %13 : tensor<4xf32>
    %15 = stablehlo.round_nearest_even %14 : tensor<4xf32>
    %16 = stablehlo.convert %15 : (tensor<4xf32>) -> tensor<4xui32>
    %17 = stablehlo.constant dense<1.000000e+00> : tensor<4xf32>
    %18 = stablehlo.compare LT, %0, %17 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %19 = stablehlo.select %18, %16, %12 : tensor<4xi1>, tensor<4xui32>
    %20 = stablehlo.constant dense<7> : tensor<4xui32>
    %21 = stablehlo.compare LE, %19, %20 : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
    %22 = stablehlo.constant dense<7> : tensor<4xui32>
    %23 = stablehlo.constant dense<8> : tensor<4xui32>
    %24 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xui32>
    %25 = stablehlo.constant dense<31> : tensor<4xui32>
    %26 = stablehlo.shift_right_logical %24, %25 : tensor<4xui32>
    %27 = stablehlo.constant dense<3> : tensor<4xui32>
    %28 = stablehlo.shift_left %26, %27 : tensor<4xui32>
    %29 = stablehlo.select %21, %19, %22 : tensor<4xi1>, tensor<4xui32>
    %30 = stablehlo.or %29, %28 : tensor<4xui32>
    %31 = stablehlo.compare EQ, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %32 = stablehlo.select %31, %30, %23 : tensor<4xi1>, tensor<4xui32>
    %33 = stablehlo.convert %32 : (tensor<4xui32>) -> tensor<4xui4>
    return %33 : tensor<4xui4>
  }
  func.func @powers(%x: tensor<4xui8>) -> tensor<4xui8> {
    %0 = stablehlo.convert %x : (tensor<4xui8>) -> tensor<4xui32>
    %1 = stablehlo.constant dense<255> : tensor<4xui32>
    %2 = stablehlo.and %0, %1 : tensor<4xui32>
    %3 = stablehlo.constant dense<23> : tensor<4xui32>
    %4 = stablehlo.shift_left %2, %3 : tensor<4xui32>
    %5 = stablehlo.constant dense<0> : tensor<4xui32>
    %6 = stablehlo.add %4, %5 : tensor<4xui32>
    %7 = stablehlo.constant dense<4194304> : tensor<4xui32>
    %8 = stablehlo.constant dense<1> : tensor<4xui32>
    %9 = stablehlo.compare LT, %2, %8 : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
    %10 = stablehlo.select %9, %7, %6 : tensor<4xi1>, tensor<4xui32>
    %11 = stablehlo.constant dense<255> : tensor<4xui32>
    %12 = stablehlo.compare EQ, %0, %11 : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
    %13 = stablehlo.constant dense<2143289344> : tensor<4xui32>
    %14 = stablehlo.select %12, %13, %10 : tensor<4xi1>, tensor<4xui32>
    %15 = stablehlo.bitcast_convert %14 : (tensor<4xui32>) -> tensor<4xf32>
    %16 = stablehlo.add %15, %15 : tensor<4xf32>
    %17 = stablehlo.abs %16 : tensor<4xf32>
    %18 = stablehlo.bitcast_convert %17 : (tensor<4xf32>) -> tensor<4xui32>
    %19 = stablehlo.constant dense<23> : tensor<4xui32>
    %20 = stablehlo.shift_right_logical %18, %19 : tensor<4xui32>
    %21 = stablehlo.constant dense<1> : tensor<4xui32>
    %22 = stablehlo.and %20, %21 : tensor<4xui32>
    %23 = stablehlo.constant dense<4194303> : tensor<4xui32>
    %24 = stablehlo.add %22, %23 : tensor<4xui32>
    %25 = stablehlo.add %18, %24 : tensor<4xui32>
    %26 = stablehlo.constant dense<23> : tensor<4xui32>
    %27 = stablehlo.shift_right_logical %25, %26 : tensor<4xui32>
    %28 = stablehlo.constant dense<0> : tensor<4xui32>
    %29 = stablehlo.subtract %27, %28 : tensor<4xui32>
    %30 = stablehlo.constant dense<8.816208e-39> : tensor<4xf32>
    %31 = stablehlo.compare GT, %17, %30 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %32 = stablehlo.convert %31 : (tensor<4xi1>) -> tensor<4xui32>
    %33 = stablehlo.constant dense<1.1754944e-38> : tensor<4xf32>
    %34 = stablehlo.compare LT, %17, %33 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %35 = stablehlo.select %34, %32, %29 : tensor<4xi1>, tensor<4xui32>
    %36 = stablehlo.constant dense<254> : tensor<4xui32>
    %37 = stablehlo.compare LE, %35, %36 : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
    %38 = stablehlo.constant dense<255> : tensor<4xui32>
    %39 = stablehlo.constant dense<255> : tensor<4xui32>
    %40 = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
    %41 = stablehlo.compare GE, %16, %40 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %42 = stablehlo.and %37, %41 : tensor<4xi1>
    %43 = stablehlo.select %42, %35, %39 : tensor<4xi1>, tensor<4xui32>
    %44 = stablehlo.convert %43 : (tensor<4xui32>) -> tensor<4xui8>
    return %44 : tensor<4xui8>
  }
}
