// stablehlo.cholesky: symmetric positive definite matrices as products of a triangular matrix and its transpose.
#include <fmt/format.h>

#include <cmath>

#include "aot/ops/support/algebra.h"
#include "aot/ops/support/contraction.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/matrices/complex_matrices.h"
#include "aot/ops/support/matrices/matrices.h"
#include "aot/ops/support/matrices/triangular_solve.h"

namespace ingot::cholesky_op {
namespace {

bool is_lower(const Attrs& attrs) { return attrs.boolean("lower", false); }

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  ops::check_square(args, args.operands[0]);
  return {args.operands[0]};
}

double conjugate(double x) { return x; }
std::complex<double> conjugate(std::complex<double> x) { return std::conj(x); }

// Column by column; NaN from the first pivot on that is not positive. What is not in the triangle is 0.
template <typename T>
void factorise(const EvaluateArgs& args, const std::vector<T>& a, std::vector<T>& y) {
  const int64_t size = args.result_type().shape.back(), elements = args.result_type().elements();
  const bool lower = is_lower(args.attrs());
  for (int64_t base = 0; base < elements; base += size * size) {
    const auto at = [&](int64_t row, int64_t column) {
      return base + (lower ? row * size + column : column * size + row);
    };
    for (int64_t j = 0; j < size; ++j) {
      for (int64_t i = j; i < size; ++i) {
        T& value = y[at(i, j)];
        value = a[at(i, j)];
        for (int64_t k = 0; k < j; ++k) value -= y[at(i, k)] * conjugate(y[at(j, k)]);
        value = i == j ? std::sqrt(value) : value / y[at(j, j)];
      }
    }
  }
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  RefTensor y(args.result_type());
  if (y.is_complex()) {
    std::vector<std::complex<double>> values(y.elements());
    factorise(args, ops::complex_values(args.inputs[0]), values);
    ops::set_complex_values(y, values);
  } else {
    factorise(args, args.inputs[0].f, y.f);
  }
  return {y};
}

// With A = L Lᵀ and Φ(X) the lower triangle of X with half its diagonal:
//   S = L⁻ᵀ Φ(Lᵀ dL) L⁻¹,  dA = Φ(S + Sᵀ)
// as only the lower triangle of A is read. Murray, "Differentiation of the Cholesky decomposition" (2016), eq. 10.
Values gradient(GradientArgs& args) {
  GraphBuilder& b = args.b;
  const bool lower = is_lower(args.op.attrs());
  const auto as_lower = [&](Value* value) { return lower ? value : ops::transposed(b, value); };
  Value* l = as_lower(args.result());
  Value* dl = as_lower(args.dy());
  Value* inner = ops::triangle(b, ops::matmul(b, l, dl, true), true, 0.5);
  Value* left = ops::triangular_solve(b, l, inner, {.left_side = true, .lower = true, .transposed = true});
  Value* s = ops::triangular_solve(b, l, left, {.left_side = false, .lower = true});
  return {as_lower(ops::triangle(b, ops::add(b, s, ops::transposed(b, s)), true, 0.5))};
}

// A large matrix in blocks:  A₁₁ = L₁₁ L₁₁ᵀ,  L₂₁ = A₂₁ L₁₁⁻ᵀ,  A₂₂ - L₂₁ L₂₁ᵀ = L₂₂ L₂₂ᵀ;  likewise with U = Lᵀ.
Values expand(ExpandArgs& args) {
  GraphBuilder& b = args.b;
  Value* a = args.operand(0);
  const bool lower = is_lower(args.attrs());
  const int rank = a->type.rank();
  const int64_t size = a->type.shape.back();
  if (is_complex(a->type.dtype)) return {ops::complex_cholesky(b, a, lower)};
  if (size <= ops::kBlock) return {};
  const int64_t cut = ops::first_part(size);
  const ops::Range first{0, cut}, second{cut, size};
  const auto factor = [&](Value* of) { return b.make(kCholesky, {of}, {{"lower", lower}}); };
  Value* y11 = factor(ops::block(b, a, first, first));
  Value* beside = lower ? ops::block(b, a, second, first) : ops::block(b, a, first, second);
  Value* y21 = ops::triangular_solve(b, y11, beside, {.left_side = !lower, .lower = lower, .transposed = true});
  Value* known = ops::matmul(b, y21, y21, !lower, lower);
  Value* y22 = factor(ops::subtract(b, ops::block(b, a, second, second), known));
  Value* zero = ops::zeros_like(b, ops::transposed(b, y21));
  const auto rows = [&](Value* left, Value* right) { return ops::concatenate(b, {left, right}, rank - 1); };
  Value* above = lower ? rows(y11, zero) : rows(y11, y21);
  Value* below = lower ? rows(y21, y22) : rows(zero, y22);
  return {ops::concatenate(b, {above, below}, rank - 2)};
}

// The diagonal outweighs the rest, so that the matrix is positive definite.
Sample sample(const std::string& batch, int size, const std::string& dtype, bool lower) {
  const std::string shape = fmt::format("{}{}x{}x", batch, size, size);
  const auto rank = std::count(batch.begin(), batch.end(), 'x') + 2;
  return {.text = fmt::format(R"(func.func @main(%x: tensor<{0}{1}>) -> tensor<{0}{1}> {{
  %i = stablehlo.iota dim = {2} : tensor<{0}i32>
  %j = stablehlo.iota dim = {3} : tensor<{0}i32>
  %is_diagonal = stablehlo.compare EQ, %i, %j : (tensor<{0}i32>, tensor<{0}i32>) -> tensor<{0}i1>
  %large = stablehlo.constant dense<{4}.0> : tensor<{0}{1}>
  %zero = stablehlo.constant dense<0.0> : tensor<{0}{1}>
  %shift = stablehlo.select %is_diagonal, %large, %zero : tensor<{0}i1>, tensor<{0}{1}>
  %a = stablehlo.add %x, %shift : tensor<{0}{1}>
  %0 = "stablehlo.cholesky"(%a) <{{lower = {5}}}> : (tensor<{0}{1}>) -> tensor<{0}{1}>
  return %0 : tensor<{0}{1}>
}}
)",
                              shape, dtype, rank - 2, rank - 1, size + 1, lower),
          .low = -1,
          .high = 1};
}

Sample complex_sample(const std::string& type, const std::string& tensor, bool lower) {
  return {.text = fmt::format(R"(func.func @main(%x: {0}) -> {0} {{
  %t = stablehlo.transpose %x, dims = [1, 0] : ({0}) -> {0}
  %c = chlo.conj %t : {0} -> {0}
  %s = stablehlo.add %x, %c : {0}
  %i = stablehlo.iota dim = 0 : tensor<{1}i32>
  %j = stablehlo.iota dim = 1 : tensor<{1}i32>
  %is_diagonal = stablehlo.compare EQ, %i, %j : (tensor<{1}i32>, tensor<{1}i32>) -> tensor<{1}i1>
  %large = stablehlo.constant dense<(20.0, 0.0)> : {0}
  %zero = stablehlo.constant dense<(0.0, 0.0)> : {0}
  %shift = stablehlo.select %is_diagonal, %large, %zero : tensor<{1}i1>, {0}
  %a = stablehlo.add %s, %shift : {0}
  %0 = "stablehlo.cholesky"(%a) <{{lower = {2}}}> : ({0}) -> {0}
  return %0 : {0}
}}
)",
                              type, tensor, lower),
          .low = -1,
          .high = 1,
          .differentiable = false};
}

std::vector<Sample> samples() {
  std::vector<Sample> samples = {
      sample("", 1, "f32", true),     sample("", 5, "f64", true),     sample("", 5, "f64", false),
      sample("2x3x", 4, "f32", true), sample("2x", 19, "f32", false), sample("", 6, "bf16", true),
      sample("0x", 3, "f32", true),
  };
  for (const bool lower : {true, false}) {
    samples.push_back(sample("2x", 70, "f32", lower));
    samples.back().differentiable = false;
    samples.push_back(complex_sample("tensor<5x5xcomplex<f32>>", "5x5x", lower));
    samples.push_back(complex_sample("tensor<35x35xcomplex<f64>>", "35x35x", lower));
  }
  return samples;
}

}  // namespace

extern const OpDef kCholesky = {
    .name = "stablehlo.cholesky",
    .doc = "L of A = L Lᴴ, or U of A = Uᴴ U, for Hermitian positive definite A of which one triangle is read.",
    .assembly = "operands (`,` `lower` `=` bool(lower))? attr-dict :same",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .expand = expand,
    .samples = samples,
    .root = KernelRoot::kCholesky,
    .ulp = {.f32 = 16, .f64 = 16, .half = 1},
};

}  // namespace ingot::cholesky_op
