#include "aot/analysis/made_literal.h"

#include "aot/analysis/walk.h"
#include "aot/graph/evaluate.h"

namespace ingot {
namespace {

constexpr int64_t kMadeElementsMax = 1 << 24;
constexpr int kLongestChain = 6;  // one behind the other

LiteralRef made_by(const Value* value, int ops_left) {
  if (const LiteralRef literal = constant_of(value)) return literal;
  const bool is_made = value->op && value->op->results.size() == 1 && !value->op->operands.empty() &&
                       (value->op->def->access || value->op->def->is_elementwise);
  if (!is_made || ops_left == 0 || value->type.elements() > kMadeElementsMax) return nullptr;
  std::vector<RefTensor> inputs;
  for (const Value* operand : value->op->operands) {
    const LiteralRef literal = made_by(operand, ops_left - 1);
    if (!literal) return nullptr;
    inputs.push_back(from_literal(*literal));
  }
  return to_literal(evaluate(*value->op, inputs)[0]);
}

}  // namespace

LiteralRef made_literal(const Value* value) { return made_by(value, kLongestChain); }

}  // namespace ingot
