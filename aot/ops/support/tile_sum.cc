#include "aot/ops/support/tile_sum.h"

#include <fmt/format.h>

#include <cmath>

namespace ingot::ops {
namespace {

using loops::Expr;
using loops::KernelBuilder;
using loops::ScalarOp;

// sum + coefficient * x; a null sum is 0.
Expr add_product(KernelBuilder& b, DType dtype, const Expr& sum, double coefficient, const Expr& x) {
  if (std::abs(coefficient) == 1 && sum)
    return b.apply(coefficient > 0 ? ScalarOp::kAdd : ScalarOp::kSubtract, {sum, x});
  if (coefficient == 1) return x;
  const Expr factor = b.constant(dtype, coefficient);
  return sum ? b.apply(ScalarOp::kFma, {factor, x, sum}) : b.apply(ScalarOp::kMultiply, {factor, x});
}

Expr sum_of_parities(KernelBuilder& b, DType dtype, const std::vector<double>& coefficients,
                     const TileElement& element) {
  Expr sums[2];
  double signs[2] = {1, 1};
  for (size_t k = 0; k < coefficients.size(); ++k) {
    if (coefficients[k] == 0) continue;
    Expr& sum = sums[k % 2];
    double& sign = signs[k % 2];
    if (!sum) sign = coefficients[k] < 0 ? -1 : 1;
    sum = add_product(b, dtype, sum, sign * coefficients[k], element(static_cast<int64_t>(k)));
  }
  const auto single = [&](int parity) {
    return signs[parity] > 0 ? sums[parity] : b.apply(ScalarOp::kNegate, {sums[parity]});
  };
  if (!sums[1]) return single(0);
  if (!sums[0]) return single(1);
  if (signs[0] < 0 && signs[1] < 0) return b.apply(ScalarOp::kNegate, {b.apply(ScalarOp::kAdd, {sums[0], sums[1]})});
  if (signs[0] < 0) return b.apply(ScalarOp::kSubtract, {sums[1], sums[0]});
  return b.apply(signs[1] < 0 ? ScalarOp::kSubtract : ScalarOp::kAdd, {sums[0], sums[1]});
}

// The points are 0, then pairs x and -x, then infinity.
Expr sum_of_pairs(KernelBuilder& b, DType dtype, const std::vector<double>& coefficients, const TileElement& element) {
  Expr sum;
  for (size_t k = 0; k < coefficients.size(); ++k) {
    if (coefficients[k] == 0) continue;
    Expr x = element(static_cast<int64_t>(k));
    double coefficient = coefficients[k];
    const bool begins_pair = k % 2 == 1 && k + 1 < coefficients.size();
    if (begins_pair && std::abs(coefficients[k + 1]) == std::abs(coefficient)) {
      const bool is_sum = coefficients[k + 1] == coefficient;
      x = b.apply(is_sum ? ScalarOp::kAdd : ScalarOp::kSubtract, {x, element(static_cast<int64_t>(++k))});
    }
    sum = add_product(b, dtype, sum, coefficient, x);
  }
  return sum;
}

// coefficients[at] for an index that is known at run time only.
Expr coefficient(KernelBuilder& b, DType dtype, const std::vector<double>& coefficients, const loops::Index& at) {
  Expr found = b.constant(dtype, coefficients[0]);
  for (size_t k = 1; k < coefficients.size(); ++k) {
    const auto place = static_cast<int64_t>(k);
    const Expr is_here = b.apply(ScalarOp::kEqual, {b.index_value(at), b.constant_int(DType::kI64, place)});
    found = b.apply(ScalarOp::kSelect, {is_here, b.constant(dtype, coefficients[k]), found});
  }
  return found;
}

}  // namespace

const TileMatrix& check_tiles(const InferArgs& args) {
  check_operand_count(args, 1);
  const TensorType& x = args.operands[0];
  if (x.dtype != DType::kF32 && x.dtype != DType::kF64)
    args.fail(fmt::format("{} has elements of neither f32 nor f64", ingot::to_string(x)));
  const std::string of = args.attrs().string("of");
  const int64_t outputs = args.attrs().integer("outputs");
  const TileMatrix* matrix = find_tile_matrix(of, outputs);
  if (!matrix) {
    args.fail(
        fmt::format("there are no tiles of = \"{}\", outputs = {}; of is input, kernel or result, and outputs 2 or 4",
                    of, outputs));
  }
  return *matrix;
}

Expr tile_sum(KernelBuilder& b, DType dtype, const TileMatrix& matrix, TileSum sum, const loops::Index& at,
              const TileElement& element) {
  const bool is_value = sum == TileSum::kValue;
  if (at.is_constant()) {
    return is_value ? sum_of_parities(b, dtype, matrix.row(at.constant), element)
                    : sum_of_pairs(b, dtype, matrix.column(at.constant), element);
  }
  Expr made = b.constant(dtype, 0);
  for (int64_t k = 0; k < (is_value ? matrix.tile : matrix.points); ++k) {
    const Expr factor = coefficient(b, dtype, is_value ? matrix.column(k) : matrix.row(k), at);
    made = b.apply(ScalarOp::kFma, {factor, element(k), made});
  }
  return made;
}

}  // namespace ingot::ops
