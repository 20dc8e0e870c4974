#include <algorithm>
#include <numeric>

#include "aot/base/contains.h"
#include "aot/graph/access_map.h"
#include "aot/ops/support/dimension_numbers.h"
#include "aot/passes/simplify/simplify_rules.h"

namespace ingot {
namespace {

using Ints = std::vector<int64_t>;

// The dimensions that the result keeps, in their order.
Ints free_dims(const Value* operand, const Ints& batch, const Ints& contract) {
  Ints free;
  for (int64_t d = 0; d < operand->type.rank(); ++d) {
    if (!contains(batch, d) && !contains(contract, d)) free.push_back(d);
  }
  return free;
}

// A dot_general like `like` (precision, result dtype) with other operands and dimension numbers.
Value* make_dot(GraphBuilder& b, const Op& like, Value* lhs, Value* rhs, ops::DotDims dims) {
  TensorType type{like.result()->type.dtype, {}};
  for (int64_t d : dims.lhs_batch) type.shape.push_back(lhs->type.shape[d]);
  for (int64_t d : free_dims(lhs, dims.lhs_batch, dims.lhs_contract)) type.shape.push_back(lhs->type.shape[d]);
  for (int64_t d : free_dims(rhs, dims.rhs_batch, dims.rhs_contract)) type.shape.push_back(rhs->type.shape[d]);
  AttrMap attrs = like.attr_map;
  attrs["dot_dimension_numbers"] = ops::to_attr(dims);
  return b.make(*like.def, {lhs, rhs}, std::move(attrs), {type});
}

// Renumbers the dimensions of a transposed operand. False when its free dimensions change their order.
bool untranspose(const Op& transpose, Ints& batch, Ints& contract) {
  const Ints permutation = transpose.attrs().ints("permutation");
  Ints free = free_dims(transpose.result(), batch, contract);
  for (Ints* dims : {&batch, &contract, &free}) {
    for (int64_t& dim : *dims) dim = permutation[dim];
  }
  return std::is_sorted(free.begin(), free.end());
}

Value* dot_of_transposed(GraphBuilder& b, const Op& op) {
  ops::DotDims dims = ops::read_dot_dims(op.attrs());
  if (const Op* lhs = made_by(op.operand(0), kTranspose)) {
    if (untranspose(*lhs, dims.lhs_batch, dims.lhs_contract)) {
      return make_dot(b, op, lhs->operand(0), op.operand(1), std::move(dims));
    }
  }
  dims = ops::read_dot_dims(op.attrs());
  if (const Op* rhs = made_by(op.operand(1), kTranspose)) {
    if (untranspose(*rhs, dims.rhs_batch, dims.rhs_contract)) {
      return make_dot(b, op, op.operand(0), rhs->operand(0), std::move(dims));
    }
  }
  return nullptr;
}

// The result's dimensions are batch, lhs free, rhs free; swapped operands give batch, rhs free, lhs free.
Value* transposed_dot(GraphBuilder& b, const Op& op) {
  const Op* dot = made_by(op.operand(0), kDotGeneral);
  if (!dot || dot->result()->uses.size() != 1) return nullptr;
  const ops::DotDims dims = ops::read_dot_dims(dot->attrs());
  const auto batch = static_cast<int64_t>(dims.lhs_batch.size());
  const auto lhs_free = static_cast<int64_t>(free_dims(dot->operand(0), dims.lhs_batch, dims.lhs_contract).size());
  Ints swapped(dot->result()->type.rank());
  std::iota(swapped.begin(), swapped.end(), 0);
  std::rotate(swapped.begin() + batch, swapped.begin() + batch + lhs_free, swapped.end());
  if (op.attrs().ints("permutation") != swapped) return nullptr;
  return make_dot(b, *dot, dot->operand(1), dot->operand(0),
                  {dims.rhs_batch, dims.lhs_batch, dims.rhs_contract, dims.lhs_contract});
}

// A convert of bf16 to f32, or views of one.
bool is_widened(const Value* value) {
  if (const Op* convert = made_by(value, kConvert)) {
    return convert->operand(0)->type.dtype == DType::kBF16 && value->type.dtype == DType::kF32;
  }
  return value->op && value->op->operands.size() == 1 && access_map(*value->op).is_view() &&
         is_widened(value->op->operand(0));
}

// The same elements before they were widened.
Value* narrowed(GraphBuilder& b, const Value* wide) {
  const Op& op = *wide->op;
  if (op.is(kConvert)) return op.operand(0);
  return b.make(*op.def, {narrowed(b, op.operand(0))}, op.attr_map, {{DType::kBF16, wide->type.shape}});
}

Value* dot_of_widened(GraphBuilder& b, const Op& op) {
  if (op.result()->type.dtype != DType::kF32 || !std::ranges::all_of(op.operands, is_widened)) return nullptr;
  Value* const lhs = narrowed(b, op.operand(0));
  return make_dot(b, op, lhs, narrowed(b, op.operand(1)), ops::read_dot_dims(op.attrs()));
}

constexpr SimplifyRule kDotRules[] = {
    {&kDotGeneral, "dot(convert x, convert y) == dot(x, y), summed in f32, for x and y in bf16", dot_of_widened},
    {&kDotGeneral, "dot(transpose x, y) == dot(x, y) with renumbered dimensions", dot_of_transposed},
    {&kTranspose, "transpose(dot(x, y)) == dot(y, x), when it swaps their free dimensions", transposed_dot},
};

}  // namespace

std::span<const SimplifyRule> dot_rules() { return kDotRules; }

}  // namespace ingot
