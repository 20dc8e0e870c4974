// run: loops for x86-64-v3
// Rows of a table by their numbers, which are clamped.
func.func @main(%table: tensor<10x8xf32>, %rows: tensor<3xi32>) -> tensor<3x8xf32> {
  %0 = "stablehlo.gather"(%table, %rows) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<10x8xf32>, tensor<3xi32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}
// ---- expect
// after loops for x86-64-v3: 000.f32_3x8_gather
kernel f32_3x8_gather lanes 8 tasks 1 (table: f32[80], rows: i32[3], out: f32[24] out) {
  for unit in 0 .. 3 {
    let start = minimum(maximum(load rows[unit], i32(0)), i32(9)) in 0 .. 9
    store out[8*unit + lane] = load table[8*start + lane]
  }
}
