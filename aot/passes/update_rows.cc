#include <optional>

#include "aot/analysis/walk.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/region.h"
#include "aot/passes/pass.h"
#include "aot/passes/simplify/simplify_rules.h"

namespace ingot {
namespace {

constexpr int64_t kFewShare = 4;  // updates of at most one in so many elements are few

// Updates that are added to zeros, and by what all of them are multiplied then.
struct ScaledScatter {
  const Op* scatter = nullptr;
  std::vector<const Value*> factors;  // of the scatter's shape, each of one number
  bool is_negated = false;
};

// Narrow floats are left alone: what is small beside an element would be lost once for each update.
bool adds_few_to_zeros(const Op& op) {
  const DType dtype = op.result()->type.dtype;
  return op.operands.size() == 3 && is_float(dtype) && info(dtype).bits >= 32 && is_all(op.operand(0), 0) &&
         ops::binary_region_op(op.region()) == &kAdd &&
         op.operand(2)->type.elements() * kFewShare <= op.result()->type.elements();
}

bool is_scalar_broadcast(const Value* value) {
  const Op* broadcast = made_by(value, kBroadcastInDim);
  return broadcast && broadcast->operand(0)->type.shape.empty();
}

bool is_uniform(const Value* value) { return common_float(value) || is_scalar_broadcast(value); }

// What `value`, which only one op reads, is made of by multiplying with scalars.
std::optional<ScaledScatter> scaled_scatter(const Value* value) {
  ScaledScatter found;
  while (value->op && value->uses.size() == 1) {
    const Op& op = *value->op;
    if (op.is(kScatter)) {
      found.scatter = &op;
      return adds_few_to_zeros(op) ? std::optional(std::move(found)) : std::nullopt;
    }
    if (op.is(kNegate)) {
      found.is_negated = !found.is_negated;
      value = op.operand(0);
    } else if (op.is(kMultiply) && (is_uniform(op.operand(0)) || is_uniform(op.operand(1)))) {
      const int factor = is_uniform(op.operand(0)) ? 0 : 1;
      found.factors.push_back(op.operand(factor));
      value = op.operand(1 - factor);
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

// The same number in another shape.
Value* uniform(GraphBuilder& b, const Value* value, const Shape& shape) {
  if (const std::optional<double> number = common_float(value))
    return ops::constant(b, {value->type.dtype, shape}, *number);
  return ops::broadcast_scalar(b, value->op->operand(0), shape);
}

Value* updated(GraphBuilder& b, Value* x, const ScaledScatter& scaled, bool is_subtracted) {
  const Op& scatter = *scaled.scatter;
  Value* updates = scatter.operand(2);
  for (auto factor = scaled.factors.rbegin(); factor != scaled.factors.rend(); ++factor)
    updates = ops::multiply(b, updates, uniform(b, *factor, updates->type.shape));
  if (scaled.is_negated != is_subtracted) updates = ops::negate(b, updates);
  return ops::scatter(b, &kAdd, x, scatter.operand(1), updates, ops::read_scatter_dims(scatter.attrs()));
}

Value* update_rows_of(GraphBuilder& b, const Op& op) {
  const bool is_subtracted = op.is(kSubtract);
  if (!is_subtracted && !op.is(kAdd)) return nullptr;
  for (const int k : {1, 0}) {
    if (is_subtracted && k == 0) continue;
    if (const auto scaled = scaled_scatter(op.operand(k))) return updated(b, op.operand(1 - k), *scaled, is_subtracted);
  }
  return nullptr;
}

}  // namespace

bool update_rows(Module& module, PassContext&) {
  bool changed = false;
  GraphBuilder b;
  for_each_block(module, [&](Block& block) {
    for (auto at = block.ops.begin(); at != block.ops.end();) {
      Op* op = (at++)->get();
      b.before(*op);
      b.location = op->location;
      if (Value* value = update_rows_of(b, *op)) {
        replace_op(op, {value});
        changed = true;
      }
    }
    if (changed) erase_unread(block);
  });
  return changed;
}

}  // namespace ingot
