#include "aot/passes/gradients/differentiate.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/analysis/regions.h"
#include "aot/analysis/walk.h"
#include "aot/base/contains.h"
#include "aot/ops/support/build.h"

namespace ingot {
namespace {

// Adds an op's results to `active` where they depend on it; floats only. Nothing flows back through complex numbers.
void propagate(const Op& op, ValueSet& active, const ValueSet& constants) {
  if (op.def->zero_gradient) return;
  if (std::ranges::none_of(read_by(op), [&](const Value* value) { return active.contains(value); })) return;
  for (const auto& result : op.results) {
    if (is_complex(result->type.dtype)) {
      throw_limit(op.location, "a gradient through complex numbers is not supported yet; write it with real ones");
    }
    if (is_float(result->type.dtype) && !constants.contains(result.get())) active.insert(result.get());
  }
}

}  // namespace

ValueSet active_values(const ValueSet& from, const Block& block, const ValueSet& constants) {
  ValueSet active = from;
  for (const auto& op : block.ops) propagate(*op, active, constants);
  return active;
}

Value* Differentiator::find(const Value* value) const {
  const auto found = gradients_.find(value);
  return found == gradients_.end() ? nullptr : found->second;
}

void Differentiator::accumulate(const Value* value, Value* gradient) {
  Value*& sum = gradients_[value];
  sum = sum ? ops::add(b_, sum, gradient) : gradient;
}

void Differentiator::visit(Op& op) {
  if (op.def->zero_gradient) return;
  if (std::ranges::none_of(read_by(op), [&](const Value* value) { return active_.contains(value); })) return;
  Values result_gradients;
  for (const auto& result : op.results) {
    result_gradients.push_back(constants_.contains(result.get()) ? nullptr : find(result.get()));
  }
  if (std::ranges::none_of(result_gradients, [](const Value* gradient) { return gradient; })) return;
  b_.location = op.location;
  if (!is_control_flow(op)) return visit_element(op, result_gradients);
  is_loop(op) ? visit_loop(op, result_gradients) : visit_branches(op, result_gradients);
}

void Differentiator::visit_element(const Op& op, const Values& result_gradients) {
  if (!op.def->gradient && visit_expansion(op, result_gradients)) return;
  if (!op.def->gradient) {
    throw_error(op.location, fmt::format("{} has no gradient, but the loss depends on a trained value through it; "
                                         "detach() its input or its result to cut it off",
                                         op.name()));
  }
  const size_t count = op.operands.size();
  const auto needed = std::make_unique<bool[]>(count);
  for (size_t i = 0; i < count; ++i) needed[i] = active_.contains(op.operands[i]);
  GradientArgs args{b_, op, result_gradients, {needed.get(), count}};
  const Values operand_gradients = op.def->gradient(args);
  INGOT_CHECK(operand_gradients.size() == count);
  for (size_t i = 0; i < count; ++i) {
    if (!needed[i] || !operand_gradients[i]) continue;
    if (operand_gradients[i]->type != op.operands[i]->type) {
      throw_bug(fmt::format("{}: the gradient of operand {} is {}, not {}", op.name(), i,
                            to_string(operand_gradients[i]->type), to_string(op.operands[i]->type)));
    }
    accumulate(op.operands[i], operand_gradients[i]);
  }
}

bool Differentiator::visit_expansion(const Op& op, const Values& result_gradients) {
  if (!op.def->expand) return false;
  const Op& last = *b_.block()->ops.back();
  ExpandArgs args{b_, op};
  const Values made = op.def->expand(args);
  if (made.empty()) return false;
  std::vector<Op*> parts;
  for (auto at = std::next(last.self); at != b_.block()->ops.end(); ++at) {
    propagate(**at, active_, constants_);
    parts.push_back(at->get());
  }
  for (size_t i = 0; i < made.size(); ++i) {
    if (result_gradients[i]) accumulate(made[i], result_gradients[i]);
  }
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) visit(**part);
  return true;
}

Values Differentiator::active_captures(const Op& op) const {
  Values captures;
  for (const auto& region : op.regions) {
    for (Value* value : captured_values(*region)) {
      if (active_.contains(value) && !contains(captures, value)) captures.push_back(value);
    }
  }
  return captures;
}

}  // namespace ingot
