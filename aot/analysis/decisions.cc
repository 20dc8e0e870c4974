#include "aot/analysis/decisions.h"

#include <algorithm>
#include <set>

#include "aot/graph/op.h"
#include "aot/ops/ops.h"

namespace ingot {
namespace {

// What jumps where its operand changes a little: with a rest of rounding for 0, to 1 or -1.
bool jumps(const Op& op) {
  return op.is(kSign) || op.is(kFloor) || op.is(kCeil) || op.is(kRoundNearestAfz) || op.is(kRoundNearestEven) ||
         op.is(kRemainder);
}

bool compares(const Block& region) {
  return std::ranges::any_of(region.ops, [](const auto& op) {
    const auto compares_inside = [](const auto& inner) { return compares(*inner); };
    return op->is(kCompare) || std::ranges::any_of(op->regions, compares_inside);
  });
}

class Search {
 public:
  bool reaches_decision(const Value& value) {
    if (!seen_.insert(&value).second) return false;
    return std::ranges::any_of(value.uses,
                               [&](const Value::Use& use) { return is_decided(*use.op, use.operand_index); });
  }

 private:
  bool is_decided(const Op& op, int operand) {
    if (op.is(kKernel)) return reaches_decision(*op.region().argument(operand));
    if (op.is(kYield)) {
      const Op* kernel = op.block->parent_op;
      return kernel && reaches_decision(*kernel->result(operand));
    }
    if (op.def->is_terminator) return !op.def->ends_function;
    if (jumps(op)) return true;
    // What is scattered goes where the other operand decides.
    if (op.is(kSelectAndScatter) && operand == 1) return reaches_decision(*op.result());
    const auto compares_inside = [](const auto& region) { return compares(*region); };
    if (op.def->root == KernelRoot::kControlFlow || std::ranges::any_of(op.regions, compares_inside)) return true;
    return std::ranges::any_of(
        op.results, [&](const auto& result) { return !is_float(result->type.dtype) || reaches_decision(*result); });
  }

  std::set<const Value*> seen_;
};

}  // namespace

bool decides(const Value& value) { return Search().reaches_decision(value); }

}  // namespace ingot
