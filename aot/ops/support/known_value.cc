#include "aot/ops/support/known_value.h"

#include <algorithm>
#include <map>

#include "aot/graph/evaluate.h"
#include "aot/ops/ops.h"

namespace ingot::ops {
namespace {

constexpr int64_t kElementsMax = 1024;  // shape arithmetic has a few for each dimension

bool reads_types_alone(const Op& op) { return op.is(kGetDimensionSize); }

// The op makes one small tensor from its operands alone.
bool may_evaluate(const Op& op) {
  if (op.results.size() != 1 || !op.def->evaluate || !op.regions.empty() || op.def->has_side_effect) return false;
  const TensorType& type = op.result()->type;
  if (!type.is_static() || is_token(type.dtype) || type.elements() > kElementsMax) return false;
  return !reads_types_alone(op) || op.operand(0)->type.is_static();
}

}  // namespace

std::optional<RefTensor> known_value(const Value* value, const Value** blame) {
  std::map<const Value*, RefTensor> known;
  std::vector<const Value*> wanted{value};
  while (!wanted.empty()) {
    const Value* next = wanted.back();
    if (known.contains(next)) {
      wanted.pop_back();
      continue;
    }
    if (!next->op || !may_evaluate(*next->op)) {
      if (blame) *blame = next;
      return std::nullopt;
    }
    const Op& op = *next->op;
    std::vector<RefTensor> inputs;
    bool is_ready = true;
    for (const Value* operand : op.operands) {
      if (reads_types_alone(op)) {
        inputs.emplace_back().type = operand->type;
      } else if (const auto found = known.find(operand); found != known.end()) {
        inputs.push_back(found->second);
      } else {
        wanted.push_back(operand);
        is_ready = false;
      }
    }
    if (is_ready) known[next] = evaluate(op, inputs)[0];
  }
  return known[value];
}

}  // namespace ingot::ops
