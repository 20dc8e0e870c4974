#include "aot/ops/support/matrices/matrix_samples.h"

#include <fmt/format.h>

#include <algorithm>

namespace ingot::ops {

const std::vector<SampleMatrix>& factored_matrices() {
  static const std::vector<SampleMatrix> matrices = {
      {"", 1, 1, "f32"},   {"", 5, 5, "f64"},      {"2x3x", 4, 4, "f32"},  {"2x", 6, 3, "f32"},
      {"2x", 3, 6, "f64"}, {"", 17, 17, "f32", 9}, {"", 90, 70, "f32", 9}, {"2x", 66, 70, "f64", 9},
      {"0x", 3, 3, "f32"}, {"2x", 0, 3, "f32"},    {"2x", 3, 0, "f32"},
  };
  return matrices;
}

Sample decomposition_sample(const SampleMatrix& matrix, const std::string& op,
                            const std::vector<std::string>& results) {
  const std::string shape = fmt::format("{}{}x{}x", matrix.batch, matrix.rows, matrix.columns);
  const auto rank = std::count(shape.begin(), shape.end(), 'x');
  std::string names, types;
  for (const std::string& result : results) {
    names += fmt::format("{}%r{}", names.empty() ? "" : ", ", names.size());
    types += fmt::format("{}tensor<{}{}>", types.empty() ? "" : ", ", matrix.batch, result);
  }
  return {.text = fmt::format(R"(func.func @main(%x: tensor<{0}{1}>) -> ({2}) {{
  %i = stablehlo.iota dim = {3} : tensor<{0}i32>
  %j = stablehlo.iota dim = {4} : tensor<{0}i32>
  %sum = stablehlo.add %i, %j : tensor<{0}i32>
  %last = stablehlo.constant dense<{5}> : tensor<{0}i32>
  %is_antidiagonal = stablehlo.compare EQ, %sum, %last : (tensor<{0}i32>, tensor<{0}i32>) -> tensor<{0}i1>
  %row = stablehlo.convert %i : (tensor<{0}i32>) -> tensor<{0}{1}>
  %gap = stablehlo.constant dense<{6:.1f}> : tensor<{0}{1}>
  %scaled = stablehlo.multiply %row, %gap : tensor<{0}{1}>
  %large = stablehlo.add %scaled, %gap : tensor<{0}{1}>
  %zero = stablehlo.constant dense<0.0> : tensor<{0}{1}>
  %shift = stablehlo.select %is_antidiagonal, %large, %zero : tensor<{0}i1>, tensor<{0}{1}>
  %a = stablehlo.add %x, %shift : tensor<{0}{1}>
  {7} = {8} : (tensor<{0}{1}>) -> ({2})
  return {7} : {2}
}}
)",
                              shape, matrix.dtype, types, rank - 2, rank - 1, matrix.rows - 1, matrix.gap, names, op),
          .low = -1,
          .high = 1,
          .differentiable = false};
}

}  // namespace ingot::ops
