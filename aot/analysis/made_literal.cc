#include "aot/analysis/made_literal.h"

#include <cmath>

#include "aot/analysis/walk.h"
#include "aot/graph/evaluate.h"

namespace ingot {
namespace {

constexpr int64_t kMadeElementsMax = 1 << 26;
constexpr int kLongestChain = 12;  // one behind the other

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

bool are_finite(const Literal& literal) {
  const int64_t count = literal.is_splat ? 1 : literal.type.elements();
  for (int64_t k = 0; k < count; ++k) {
    if (!std::isfinite(literal.float_at(k))) return false;
  }
  return true;
}

}  // namespace ingot
