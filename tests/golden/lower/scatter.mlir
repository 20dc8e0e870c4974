// run: loops for x86-64-v3
// Rows added to a table where it lies, in ascending order of the updates; here the argument is copied first.
func.func @main(%table: tensor<10x8xf32>, %rows: tensor<3x1xi32>, %x: tensor<3x8xf32>) -> tensor<10x8xf32> {
  %0 = "stablehlo.scatter"(%table, %rows, %x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<10x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<10x8xf32>
  return %0 : tensor<10x8xf32>
}
// ---- expect
// after loops for x86-64-v3: 000.copy
kernel copy lanes 8 tasks 1 (table: f32[80], table.1: f32[80] out aliases table) {
  for i in 0 .. 80 by 8 {
    store table.1[i + lane] = load table[i + lane]
  }
}
// after loops for x86-64-v3: 001.f32_scatter_10x8
kernel f32_scatter_10x8 lanes 8 tasks 1 (rows: i32[3], x: f32[24], table: f32[80], out: f32[80] out aliases table) {
  for d in 0 .. 3 {
    let start = minimum(maximum(convert<i64>(load rows[d]), i64(-10)), i64(10)) in -10 .. 10
    if and(ge(i32[start], i32(0)), lt(i32[start], i32(10))) {
      let old = load out[8*start + lane]
      let update = load x[8*d + lane]
      let new = add(old, update)
      store out[8*start + lane] = new
    }
  }
}
