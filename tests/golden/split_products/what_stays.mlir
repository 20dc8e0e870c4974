// run: split_products
// A concatenation that is a result as well, one that many rows are multiplied by, a small one, one of the batch; sums
// of bf16 would be rounded in between, products that stand side by side are not.
func.func @main(%x: tensor<1x80xi32>, %y: tensor<64x80xi32>, %a: tensor<64x64xi32>, %b: tensor<16x64xi32>, %u: tensor<1x80xbf16>, %c: tensor<64x128xbf16>, %d: tensor<16x128xbf16>, %p: tensor<4x1x64xi32>, %e: tensor<2x64x32xi32>, %w: tensor<1x128xbf16>) -> (tensor<80x64xi32>, tensor<1x64xi32>, tensor<64x64xi32>, tensor<1x1xi32>, tensor<4x1x32xi32>, tensor<1x128xbf16>, tensor<1x80xbf16>) {
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<64x64xi32>, tensor<16x64xi32>) -> tensor<80x64xi32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<1x80xi32>, tensor<80x64xi32>) -> tensor<1x64xi32>
  %2 = stablehlo.concatenate %b, %a, dim = 0 : (tensor<16x64xi32>, tensor<64x64xi32>) -> tensor<80x64xi32>
  %3 = stablehlo.dot_general %y, %2, contracting_dims = [1] x [0] : (tensor<64x80xi32>, tensor<80x64xi32>) -> tensor<64x64xi32>
  %4 = stablehlo.concatenate %x, %x, dim = 1 : (tensor<1x80xi32>, tensor<1x80xi32>) -> tensor<1x160xi32>
  %5 = stablehlo.dot_general %4, %4, contracting_dims = [1] x [1] : (tensor<1x160xi32>, tensor<1x160xi32>) -> tensor<1x1xi32>
  %6 = stablehlo.concatenate %e, %e, dim = 0 : (tensor<2x64x32xi32>, tensor<2x64x32xi32>) -> tensor<4x64x32xi32>
  %7 = stablehlo.dot_general %p, %6, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x1x64xi32>, tensor<4x64x32xi32>) -> tensor<4x1x32xi32>
  %8 = stablehlo.concatenate %c, %d, dim = 0 : (tensor<64x128xbf16>, tensor<16x128xbf16>) -> tensor<80x128xbf16>
  %9 = stablehlo.dot_general %u, %8, contracting_dims = [1] x [0] : (tensor<1x80xbf16>, tensor<80x128xbf16>) -> tensor<1x128xbf16>
  %10 = stablehlo.concatenate %d, %c, dim = 0 : (tensor<16x128xbf16>, tensor<64x128xbf16>) -> tensor<80x128xbf16>
  %11 = stablehlo.dot_general %w, %10, contracting_dims = [1] x [1] : (tensor<1x128xbf16>, tensor<80x128xbf16>) -> tensor<1x80xbf16>
  return %0, %1, %3, %5, %7, %9, %11 : tensor<80x64xi32>, tensor<1x64xi32>, tensor<64x64xi32>, tensor<1x1xi32>, tensor<4x1x32xi32>, tensor<1x128xbf16>, tensor<1x80xbf16>
}
// ---- expect
module {
  func.func @main(%x: tensor<1x80xi32>, %y: tensor<64x80xi32>, %a: tensor<64x64xi32>, %b: tensor<16x64xi32>, %u: tensor<1x80xbf16>, %c: tensor<64x128xbf16>, %d: tensor<16x128xbf16>, %p: tensor<4x1x64xi32>, %e: tensor<2x64x32xi32>, %w: tensor<1x128xbf16>) -> (tensor<80x64xi32>, tensor<1x64xi32>, tensor<64x64xi32>, tensor<1x1xi32>, tensor<4x1x32xi32>, tensor<1x128xbf16>, tensor<1x80xbf16>) {
    %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<64x64xi32>, tensor<16x64xi32>) -> tensor<80x64xi32>
    %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<1x80xi32>, tensor<80x64xi32>) -> tensor<1x64xi32>
    %2 = stablehlo.concatenate %b, %a, dim = 0 : (tensor<16x64xi32>, tensor<64x64xi32>) -> tensor<80x64xi32>
    %3 = stablehlo.dot_general %y, %2, contracting_dims = [1] x [0] : (tensor<64x80xi32>, tensor<80x64xi32>) -> tensor<64x64xi32>
    %4 = stablehlo.concatenate %x, %x, dim = 1 : (tensor<1x80xi32>, tensor<1x80xi32>) -> tensor<1x160xi32>
    %5 = stablehlo.dot_general %4, %4, contracting_dims = [1] x [1] : (tensor<1x160xi32>, tensor<1x160xi32>) -> tensor<1x1xi32>
    %6 = stablehlo.concatenate %e, %e, dim = 0 : (tensor<2x64x32xi32>, tensor<2x64x32xi32>) -> tensor<4x64x32xi32>
    %7 = stablehlo.dot_general %p, %6, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x1x64xi32>, tensor<4x64x32xi32>) -> tensor<4x1x32xi32>
    %8 = stablehlo.concatenate %c, %d, dim = 0 : (tensor<64x128xbf16>, tensor<16x128xbf16>) -> tensor<80x128xbf16>
    %9 = stablehlo.dot_general %u, %8, contracting_dims = [1] x [0] : (tensor<1x80xbf16>, tensor<80x128xbf16>) -> tensor<1x128xbf16>
    %10 = stablehlo.dot_general %w, %d, contracting_dims = [1] x [1] : (tensor<1x128xbf16>, tensor<16x128xbf16>) -> tensor<1x16xbf16>
    %11 = stablehlo.dot_general %w, %c, contracting_dims = [1] x [1] : (tensor<1x128xbf16>, tensor<64x128xbf16>) -> tensor<1x64xbf16>
    %12 = stablehlo.concatenate %10, %11, dim = 1 : (tensor<1x16xbf16>, tensor<1x64xbf16>) -> tensor<1x80xbf16>
    return %0, %1, %3, %5, %7, %9, %12 : tensor<80x64xi32>, tensor<1x64xi32>, tensor<64x64xi32>, tensor<1x1xi32>, tensor<4x1x32xi32>, tensor<1x128xbf16>, tensor<1x80xbf16>
  }
}
