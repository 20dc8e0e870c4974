#include "aot/passes/fuse/fuse_ops.h"

#include <algorithm>
#include <set>

#include "aot/graph/access_map.h"
#include "aot/graph/attributes.h"
#include "aot/ops/ops.h"
#include "aot/ops/support/update.h"

namespace ingot::fusion {
namespace {

bool reduce_behind(const Op& from, const Space& space, const std::vector<int>& dims, std::set<const Op*>& seen) {
  if (!seen.insert(&from).second || seen.size() > 64) return false;
  if (from.def->root == KernelRoot::kReduce) {
    return from.operand(0)->type.shape == space.shape && reduced_dims(from) == dims;
  }
  if (from.def->root != KernelRoot::kElement) return false;
  for (const Value* operand : from.operands) {
    if (operand->op && operand->type.elements() == from.result()->type.elements() &&
        reduce_behind(*operand->op, space, dims, seen)) {
      return true;
    }
  }
  return false;
}

}  // namespace

// A copy into another layout is made so that its readers need not read through it.
bool is_view(const Op& op) { return access_map(op).is_view() && !op.attr_map.contains(attributes::kLayoutCopy); }

bool is_splat(const Op& op) { return op.is(kConstant) && op.attrs().literal("value")->is_splat; }

bool is_free(const Op& op) { return is_splat(op) || op.is(kIota); }

std::vector<int> reduced_dims(const Op& reduce) {
  std::vector<int> dims;
  for (int64_t dim : reduce.attrs().ints("dimensions")) dims.push_back(static_cast<int>(dim));
  std::sort(dims.begin(), dims.end());
  return dims;
}

bool is_update_in_place(const Op& op) {
  if (!ops::is_update(op)) return false;
  const Op* maker = op.operand(0)->op;
  return !maker || !(maker->is(kConstant) || is_free(*maker) || is_view(*maker));
}

int64_t row_bytes(const Space& space, const std::vector<int>& reduced) {
  int64_t elements = 1;
  for (int dim : reduced) elements *= space.shape[dim];
  return elements * 4;
}

bool reads_rows_of_reduce(const Op& op, const Space& space, const std::vector<int>& dims) {
  std::set<const Op*> seen;
  return reduce_behind(op, space, dims, seen);
}

bool is_reshape_of_rows(const Op& op) {
  constexpr size_t kWalkedMax = 400;
  if (!access_map(op).is_flat || !op.operand(0)->op) return false;
  const Shape& shape = op.operand(0)->type.shape;
  std::set<const Op*> seen;
  std::vector<const Op*> open = {op.operand(0)->op};
  while (!open.empty() && seen.size() < kWalkedMax) {
    const Op& at = *open.back();
    open.pop_back();
    if (!seen.insert(&at).second) continue;
    if (at.def->root == KernelRoot::kReduce && at.operand(0)->type.shape == shape) {
      if (Space{shape, reduced_dims(at)}.is_rows()) return true;
      continue;
    }
    if (at.operands.empty() || !reads_own_index(at) || at.result()->type.shape != shape) continue;
    for (const Value* operand : at.operands) {
      if (operand->op) open.push_back(operand->op);
    }
    for (const Value::Use& use : at.result()->uses) open.push_back(use.op);
  }
  return false;
}

bool is_materialized_anyway(const Value* operand, const Op& reader) {
  const int64_t elements = reader.result()->type.elements();
  const Op* last_reader = &reader;
  while (true) {
    if (!operand->op || operand->op->is(kConstant) || operand->type.elements() * 8 < elements) return true;
    for (const Value::Use& use : operand->uses) {
      if (use.op != last_reader) return true;
    }
    if (!is_view(*operand->op)) return false;
    last_reader = operand->op;
    operand = operand->op->operand(0);
  }
}

bool concatenates_materialized(const Op& op) {
  return std::ranges::all_of(op.operands, [&](const Value* operand) {
    const Value* source = operand;
    while (source->op && is_view(*source->op)) source = source->op->operand(0);
    return (source->op && source->op->def->root != KernelRoot::kElement) || is_materialized_anyway(operand, op);
  });
}

}  // namespace ingot::fusion
