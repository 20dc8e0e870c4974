// stablehlo.triangular_solve: systems of linear equations with triangular matrices.
#include "aot/ops/support/matrices/triangular_solve.h"

#include <fmt/format.h>

#include "aot/ops/support/algebra.h"
#include "aot/ops/support/contraction.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/matrices/complex_matrices.h"
#include "aot/ops/support/matrices/matrices.h"

namespace ingot::ops {

TriangularSolve read_triangular_solve(const Attrs& attrs) {
  const std::string& transpose = attrs.string("transpose_a");
  return {.left_side = attrs.boolean("left_side", true),
          .lower = attrs.boolean("lower", true),
          .unit_diagonal = attrs.boolean("unit_diagonal", false),
          .transposed = transpose != "NO_TRANSPOSE",
          .adjoint = transpose == "ADJOINT"};
}

AttrMap to_attrs(const TriangularSolve& solve) {
  const char* const transpose = solve.adjoint ? "ADJOINT" : solve.transposed ? "TRANSPOSE" : "NO_TRANSPOSE";
  return {{"left_side", solve.left_side},
          {"lower", solve.lower},
          {"unit_diagonal", solve.unit_diagonal},
          {"transpose_a", EnumAttr{"transpose", transpose}}};
}

Value* triangular_solve(GraphBuilder& b, Value* a, Value* right, const TriangularSolve& solve) {
  return b.make(kTriangularSolve, {a, right}, to_attrs(solve));
}

}  // namespace ingot::ops

namespace ingot::triangular_solve_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 2);
  const TensorType& a = args.operands[0];
  const TensorType& right = args.operands[1];
  const int64_t size = ops::check_square(args, a);
  ops::check_same_dtype(args, a, right);
  const std::string& transpose = args.attrs().string("transpose_a");
  if (transpose != "NO_TRANSPOSE" && transpose != "TRANSPOSE" && transpose != "ADJOINT") {
    args.fail("transpose_a = " + transpose + "; there are NO_TRANSPOSE TRANSPOSE ADJOINT");
  }
  const int rank = a.rank();
  const int along = ops::read_triangular_solve(args.attrs()).left_side ? rank - 2 : rank - 1;
  if (right.rank() != rank || !std::equal(a.shape.begin(), a.shape.end() - 2, right.shape.begin()) ||
      right.shape[along] != size) {
    args.fail(fmt::format("{} does not fit {}: the batch dimensions must be equal and dimension {} must be {}",
                          to_string(right), to_string(a), along, size));
  }
  return {right};
}

double conjugate(double x) { return x; }
std::complex<double> conjugate(std::complex<double> x) { return std::conj(x); }

// Each unknown from those before it.
template <typename T>
void solve_all(const EvaluateArgs& args, const std::vector<T>& a, std::vector<T>& x) {
  const ops::TriangularSolve solve = ops::read_triangular_solve(args.attrs());
  const TensorType& type = args.result_type();
  const int64_t size = args.inputs[0].type.shape.back();
  const int64_t rows = type.shape[type.rank() - 2], columns = type.shape.back();
  const int64_t systems = solve.left_side ? columns : rows;
  if (type.elements() == 0) return;
  for (int64_t batch = 0; batch < type.elements() / (rows * columns); ++batch) {
    const auto m = [&](int64_t i, int64_t j) {
      const T element = a[batch * size * size + (solve.is_flipped() ? j * size + i : i * size + j)];
      return solve.adjoint ? conjugate(element) : element;
    };
    const auto at = [&](int64_t i, int64_t system) {
      return batch * rows * columns + (solve.left_side ? i * columns + system : system * columns + i);
    };
    for (int64_t system = 0; system < systems; ++system) {
      for (int64_t step = 0; step < size; ++step) {
        const auto number = [&](int64_t s) { return solve.is_forward() ? s : size - 1 - s; };
        const int64_t i = number(step);
        T& value = x[at(i, system)];
        for (int64_t s = 0; s < step; ++s) value -= m(i, number(s)) * x[at(number(s), system)];
        if (!solve.unit_diagonal) value /= m(i, i);
      }
    }
  }
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  RefTensor x = args.inputs[1];
  if (x.is_complex()) {
    std::vector<std::complex<double>> values = ops::complex_values(x);
    solve_all(args, ops::complex_values(args.inputs[0]), values);
    ops::set_complex_values(x, values);
  } else {
    solve_all(args, args.inputs[0].f, x.f);
  }
  return {x};
}

// With op(A) X = B:  dB = op(A)⁻ᵀ dX,  d op(A) = -dB Xᵀ;  with X op(A) = B:  dB = dX op(A)⁻ᵀ,  d op(A) = -Xᵀ dB;
// of which the triangle that is read counts.
Values gradient(GradientArgs& args) {
  GraphBuilder& b = args.b;
  const ops::TriangularSolve solve = ops::read_triangular_solve(args.op.attrs());
  ops::TriangularSolve back = solve;
  back.transposed = !solve.transposed;
  back.adjoint = false;
  Value* x = args.result();
  Value* db = ops::triangular_solve(b, args.operand(0), args.dy(), back);
  if (!args.needed[0]) return {nullptr, db};
  // The gradient of op(A) is that of A, or transposed.
  Value* first = solve.left_side ? db : x;
  Value* second = solve.left_side ? x : db;
  if (solve.transposed) std::swap(first, second);
  Value* da = ops::negate(b, ops::matmul(b, first, second, !solve.left_side, solve.left_side));
  return {ops::triangle(b, da, solve.lower, solve.unit_diagonal ? 0 : 1), db};
}

// A large matrix in two parts: what the first unknowns are is taken from the right sides of the others.
//   M₁₁ x₁ = b₁,  M₂₂ x₂ = b₂ - M₂₁ x₁
Values expand(ExpandArgs& args) {
  GraphBuilder& b = args.b;
  const ops::TriangularSolve solve = ops::read_triangular_solve(args.attrs());
  Value* a = args.operand(0);
  Value* right = args.operand(1);
  const int rank = a->type.rank();
  const int64_t size = a->type.shape.back();
  if (is_complex(a->type.dtype)) return {ops::complex_triangular_solve(b, a, right, solve)};
  if (size <= ops::kBlock) return {};
  const int64_t cut = ops::first_part(size);
  const ops::Range parts[2] = {{0, cut}, {cut, size}};
  const int first = solve.is_forward() ? 0 : 1, second = 1 - first;
  const int along = solve.left_side ? rank - 2 : rank - 1;
  const auto part_of_right = [&](int part) {
    const ops::Range all{0, right->type.shape[solve.left_side ? rank - 1 : rank - 2]};
    return solve.left_side ? ops::block(b, right, parts[part], all) : ops::block(b, right, all, parts[part]);
  };
  const auto solved = [&](int part, Value* of) {
    return ops::triangular_solve(b, ops::block(b, a, parts[part], parts[part]), of, solve);
  };
  Value* x[2];
  x[first] = solved(first, part_of_right(first));
  Value* beside = solve.is_flipped() ? ops::block(b, a, parts[first], parts[second])
                                     : ops::block(b, a, parts[second], parts[first]);
  Value* known = solve.left_side ? ops::matmul(b, beside, x[first], solve.transposed, false)
                                 : ops::matmul(b, x[first], beside, false, solve.transposed);
  x[second] = solved(second, ops::subtract(b, part_of_right(second), known));
  return {ops::concatenate(b, {x[0], x[1]}, along)};
}

// The diagonal is far from zero.
Sample sample(const std::string& batch, int size, int systems, const std::string& dtype,
              const ops::TriangularSolve& solve) {
  const std::string a = fmt::format("tensor<{}{}x{}x{}>", batch, size, size, dtype);
  const std::string right = solve.left_side ? fmt::format("tensor<{}{}x{}x{}>", batch, size, systems, dtype)
                                            : fmt::format("tensor<{}{}x{}x{}>", batch, systems, size, dtype);
  const std::string positions = fmt::format("tensor<{}{}x{}xi32>", batch, size, size);
  const std::string truths = fmt::format("tensor<{}{}x{}xi1>", batch, size, size);
  const auto rank = std::count(batch.begin(), batch.end(), 'x') + 2;
  const char* const transpose = solve.adjoint ? "ADJOINT" : solve.transposed ? "TRANSPOSE" : "NO_TRANSPOSE";
  const bool is_complex = dtype.starts_with("complex");
  const std::string number = fmt::format("{}.0", solve.unit_diagonal ? 0 : size);
  const std::string large = is_complex ? "(" + number + ", 1.0)" : number;
  return {.text = fmt::format(R"(func.func @main(%x: {0}, %b: {1}) -> {1} {{
  %i = stablehlo.iota dim = {2} : {4}
  %j = stablehlo.iota dim = {3} : {4}
  %is_diagonal = stablehlo.compare EQ, %i, %j : ({4}, {4}) -> {5}
  %large = stablehlo.constant dense<{6}> : {0}
  %zero = stablehlo.constant dense<{11}> : {0}
  %shift = stablehlo.select %is_diagonal, %large, %zero : {5}, {0}
  %a = stablehlo.add %x, %shift : {0}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{{left_side = {7}, lower = {8}, unit_diagonal = {9}, transpose_a = #stablehlo<transpose {10}>}}> : ({0}, {1}) -> {1}
  return %0 : {1}
}}
)",
                              a, right, rank - 2, rank - 1, positions, truths, large, solve.left_side, solve.lower,
                              solve.unit_diagonal, transpose, is_complex ? "(0.0, 0.0)" : "0.0"),
          .low = -1,
          .high = 1};
}

std::vector<Sample> samples() {
  std::vector<Sample> samples;
  for (const bool left_side : {true, false}) {
    for (const bool lower : {true, false}) {
      for (const bool unit_diagonal : {true, false}) {
        for (const bool transposed : {true, false}) {
          const ops::TriangularSolve solve{left_side, lower, unit_diagonal, transposed, transposed && lower};
          samples.push_back(sample("", 5, 3, "f64", solve));
          for (const bool adjoint : {true, false}) {
            if (adjoint && !transposed) continue;
            samples.push_back(
                sample("2x", 4, 3, "complex<f32>", {left_side, lower, unit_diagonal, transposed, adjoint}));
            samples.back().differentiable = false;
          }
          if (unit_diagonal) continue;
          samples.push_back(sample("2x", 70, 9, "f32", solve));
          samples.back().differentiable = false;
        }
      }
    }
  }
  samples.push_back(sample("2x3x", 4, 17, "f32", {.lower = true}));
  samples.push_back(sample("", 9, 1, "f32", {.lower = true, .transposed = true}));
  samples.push_back(sample("2x", 6, 40, "f32", {.left_side = false}));
  samples.push_back(sample("", 4, 1, "bf16", {.lower = false, .unit_diagonal = true}));
  samples.push_back(sample("", 1, 5, "f32", {.lower = true}));
  samples.push_back(sample("0x", 4, 5, "f32", {.lower = true}));
  samples.push_back(sample("", 4, 0, "f32", {.lower = true}));
  return samples;
}

}  // namespace

extern const OpDef kTriangularSolve = {
    .name = "stablehlo.triangular_solve",
    .doc = "X of op(A) X = B or X op(A) = B, for triangular matrices A; op may transpose.",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .expand = expand,
    .samples = samples,
    .root = KernelRoot::kTriangularSolve,
    .ulp = {.f32 = 16, .f64 = 16, .half = 1},
};

}  // namespace ingot::triangular_solve_op
