// sum (u a) (v b) = a b sum u v, for integers u and v and scales a and b that do not change along the depth: sums of
// integers are exact, and rounded once.
#include <algorithm>
#include <cmath>
#include <optional>

#include "aot/analysis/integer_range.h"
#include "aot/analysis/walk.h"
#include "aot/analysis/word_depth.h"
#include "aot/loops/contraction.h"
#include "aot/ops/support/algebra.h"
#include "aot/passes/pass.h"
#include "aot/passes/rewrite_contractions.h"

namespace ingot {
namespace {

constexpr int64_t kFactorBits = 9;  // of integers less a zero point; others are no quantized ones

// integers times scales, in f32: one for all, or one for each index of dimension `dim`.
struct Scaled {
  Value* integers = nullptr;
  std::vector<double> scales;
  int64_t dim = -1;
};

// Constant scales that are the same everywhere, or broadcast along one dimension.
bool read_scales(const Value* value, Scaled& into) {
  const bool is_broadcast = value->op && value->op->is(kBroadcastInDim);
  const LiteralRef literal = constant_of(is_broadcast ? value->op->operand(0) : value);
  if (!literal) return false;
  const bool is_number = literal->is_splat || literal->type.elements() == 1;
  if (!is_number) {
    const Shape& shape = literal->type.shape;
    const auto is_long = [](int64_t extent) { return extent > 1; };
    if (!is_broadcast || std::ranges::count_if(shape, is_long) != 1) return false;
    into.dim = value->op->attrs().ints("broadcast_dimensions")[std::ranges::find_if(shape, is_long) - shape.begin()];
  }
  for (int64_t k = 0; k < (is_number ? 1 : literal->type.elements()); ++k) into.scales.push_back(literal->float_at(k));
  return std::ranges::all_of(into.scales, [](double scale) { return std::isfinite(scale); });
}

// An integer tensor of few bits that is converted to f32 and scaled, through transposes; nullopt for others.
std::optional<Scaled> scaled(GraphBuilder& b, Value* value) {
  if (!value->op || value->type.dtype != DType::kF32) return std::nullopt;
  const Op& op = *value->op;
  if (op.is(kTranspose)) {
    std::optional<Scaled> inner = scaled(b, op.operand(0));
    if (!inner) return std::nullopt;
    const std::vector<int64_t> order = op.attrs().ints("permutation");
    inner->integers = ops::transpose(b, inner->integers, order);
    if (inner->dim >= 0) inner->dim = std::ranges::find(order, inner->dim) - order.begin();
    return inner;
  }
  if (!op.is(kMultiply)) return std::nullopt;
  for (const int k : {0, 1}) {
    const Op* convert = op.operand(k)->op;
    if (!convert || !convert->is(kConvert)) continue;
    Scaled found;
    found.integers = convert->operand(0);
    const std::optional<IntegerRange> range = integer_range(found.integers);
    constexpr int64_t kMost = int64_t{1} << (kFactorBits - 1);
    if (!range || !range->is_within({-kMost, kMost}) || !read_scales(op.operand(1 - k), found)) continue;
    return found;
  }
  return std::nullopt;
}

Value* spread(GraphBuilder& b, const std::vector<double>& scales, int64_t dim, const Shape& shape) {
  if (dim < 0) return ops::constant(b, {DType::kF32, shape}, scales[0]);
  const TensorType type{DType::kF32, {std::ssize(scales)}};
  std::vector<std::byte> data(type.bytes());
  for (size_t k = 0; k < scales.size(); ++k) store_float(type.dtype, scales[k], &data[k * sizeof(float)]);
  return ops::broadcast_in_dim(b, ops::constant(b, dense(type, std::move(data))), shape, {dim});
}

// By the scales of both operands, multiplied before where one of them is a number.
Value* rescaled(GraphBuilder& b, Value* sums, Scaled x, Scaled y) {
  const Term wide = converted({b, sums}, DType::kF32);
  if (x.dim >= 0 && y.dim >= 0)
    return wide * Term(b, spread(b, x.scales, x.dim, wide.shape())) * Term(b, spread(b, y.scales, y.dim, wide.shape()));
  if (x.dim >= 0) std::swap(x, y);
  for (double& scale : y.scales) scale *= x.scales[0];
  return wide * Term(b, spread(b, y.scales, y.dim, wide.shape()));
}

// The contraction of integers, scaled; null where it stays.
Value* sum_of_integers(GraphBuilder& b, const Op& op) {
  if (op.result()->type.dtype != DType::kF32 || !byte_depth(op)) return nullptr;
  const loops::Contraction space = op.def->contraction(op);
  // So many products of such factors do not leave i32.
  if (space.products_in_a_sum() >= int64_t{1} << (31 - 2 * (kFactorBits - 1))) return nullptr;
  Scaled factors[2];
  Values integers;
  for (int k = 0; k < 2; ++k) {
    const std::optional<Scaled> it = scaled(b, op.operand(k));
    if (!it) return nullptr;
    factors[k] = *it;
    if (it->dim >= 0) factors[k].dim = space.result_dim((k == 0 ? space.lhs : space.rhs)[it->dim]);
    if (it->dim >= 0 && factors[k].dim < 0) return nullptr;
    integers.push_back(ops::convert(b, it->integers, DType::kI32));
  }
  Value* const sums = b.make(*op.def, integers, op.attr_map, {{DType::kI32, op.result()->type.shape}});
  return rescaled(b, sums, factors[0], factors[1]);
}

}  // namespace

bool sum_integers(Module& module, PassContext&) { return rewrite_contractions(module, sum_of_integers); }

}  // namespace ingot
