// run: multiply_bytes
// Unsigned by signed bytes; signed ones on both sides, which are moved to unsigned ones on one; zero points that are known
// and one that is not; a depth that is no multiple of four, along dimensions that are not the last.
func.func @main(%x: tensor<2x8xui8>, %y: tensor<8x3xi8>, %s: tensor<2x8xi8>, %z: tensor<ui8>, %t: tensor<6x2xui8>) -> (tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x2xi32>) {
  %0 = stablehlo.convert %x : (tensor<2x8xui8>) -> tensor<2x8xi32>
  %1 = stablehlo.convert %y : (tensor<8x3xi8>) -> tensor<8x3xi32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<2x8xi32>, tensor<8x3xi32>) -> tensor<2x3xi32>
  %3 = stablehlo.dot_general %s, %y, contracting_dims = [1] x [0] : (tensor<2x8xi8>, tensor<8x3xi8>) -> tensor<2x3xi32>
  %4 = stablehlo.convert %z : (tensor<ui8>) -> tensor<i32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i32>) -> tensor<2x8xi32>
  %6 = stablehlo.subtract %0, %5 : tensor<2x8xi32>
  %7 = stablehlo.dot_general %6, %1, contracting_dims = [1] x [0] : (tensor<2x8xi32>, tensor<8x3xi32>) -> tensor<2x3xi32>
  %8 = stablehlo.convert %t : (tensor<6x2xui8>) -> tensor<6x2xi32>
  %9 = stablehlo.constant dense<100> : tensor<6x2xi32>
  %10 = stablehlo.subtract %8, %9 : tensor<6x2xi32>
  %11 = stablehlo.constant dense<[[1, -2], [3, 4], [5, 6], [7, 8], [-9, 10], [11, 12]]> : tensor<6x2xi32>
  %12 = stablehlo.dot_general %10, %11, contracting_dims = [0] x [0] : (tensor<6x2xi32>, tensor<6x2xi32>) -> tensor<2x2xi32>
  return %2, %3, %7, %12 : tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x2xi32>
}
// ---- expect
module {
  func.func @main(%x: tensor<2x8xui8>, %y: tensor<8x3xi8>, %s: tensor<2x8xi8>, %z: tensor<ui8>, %t: tensor<6x2xui8>) -> (tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x2xi32>) {
    %0 = ingot.pack_words %x, dim = 1 : (tensor<2x8xui8>) -> tensor<2x2xi32>
    %1 = ingot.pack_words %y, dim = 0 : (tensor<8x3xi8>) -> tensor<2x3xi32>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] {ingot.unsigned_bytes = 0 : i64} : (tensor<2x2xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
    %3 = stablehlo.convert %s : (tensor<2x8xi8>) -> tensor<2x8xi32>
    %4 = stablehlo.constant dense<-128> : tensor<2x8xi32>
    %5 = stablehlo.subtract %3, %4 : tensor<2x8xi32>
    %6 = stablehlo.convert %5 : (tensor<2x8xi32>) -> tensor<2x8xui8>
    %7 = ingot.pack_words %6, dim = 1 : (tensor<2x8xui8>) -> tensor<2x2xi32>
    %8 = ingot.pack_words %y, dim = 0 : (tensor<8x3xi8>) -> tensor<2x3xi32>
    %9 = stablehlo.dot_general %7, %8, contracting_dims = [1] x [0] {ingot.unsigned_bytes = 0 : i64} : (tensor<2x2xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
    %10 = stablehlo.convert %y : (tensor<8x3xi8>) -> tensor<8x3xi32>
    %11 = stablehlo.constant dense<0> : tensor<i32>
    %12 = stablehlo.reduce(%10 init: %11) applies stablehlo.add across dimensions = [0] : (tensor<8x3xi32>, tensor<i32>) -> tensor<3xi32>
    %14 = stablehlo.constant dense<-128> : tensor<i32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %16 = stablehlo.multiply %12, %15 : tensor<3xi32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [1] : (tensor<3xi32>) -> tensor<2x3xi32>
    %18 = stablehlo.add %9, %17 : tensor<2x3xi32>
    %19 = stablehlo.convert %z : (tensor<ui8>) -> tensor<i32>
    %20 = stablehlo.negate %19 : tensor<i32>
    %21 = ingot.pack_words %x, dim = 1 : (tensor<2x8xui8>) -> tensor<2x2xi32>
    %22 = ingot.pack_words %y, dim = 0 : (tensor<8x3xi8>) -> tensor<2x3xi32>
    %23 = stablehlo.dot_general %21, %22, contracting_dims = [1] x [0] {ingot.unsigned_bytes = 0 : i64} : (tensor<2x2xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
    %24 = stablehlo.convert %y : (tensor<8x3xi8>) -> tensor<8x3xi32>
    %25 = stablehlo.constant dense<0> : tensor<i32>
    %26 = stablehlo.reduce(%24 init: %25) applies stablehlo.add across dimensions = [0] : (tensor<8x3xi32>, tensor<i32>) -> tensor<3xi32>
    %28 = stablehlo.broadcast_in_dim %20, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %29 = stablehlo.multiply %26, %28 : tensor<3xi32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [1] : (tensor<3xi32>) -> tensor<2x3xi32>
    %31 = stablehlo.add %23, %30 : tensor<2x3xi32>
    %32 = ingot.pack_words %t, dim = 0 : (tensor<6x2xui8>) -> tensor<2x2xi32>
    %33 = stablehlo.constant dense<[[117768961, 134612222], [3063, 3082]]> : tensor<2x2xi32>
    %34 = stablehlo.dot_general %32, %33, contracting_dims = [0] x [0] {ingot.unsigned_bytes = 0 : i64} : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
    %35 = stablehlo.constant dense<[-1800, -3800]> : tensor<2xi32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [1] : (tensor<2xi32>) -> tensor<2x2xi32>
    %37 = stablehlo.add %34, %36 : tensor<2x2xi32>
    return %2, %18, %31, %37 : tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x2xi32>
  }
}
