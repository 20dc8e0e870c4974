#include "aot/passes/gradients.h"

#include <fmt/format.h>

#include "aot/ops/build.h"

namespace ingot {
namespace {

using ValueSet = std::set<const Value*>;

// Adds the op's results to `active`, the values that depend on some wrt through differentiable ops; floats only.
void propagate(const Op& op, ValueSet& active, const ValueSet& constants) {
  if (op.def->zero_gradient) return;
  bool depends = false;
  for (const Value* operand : op.operands) depends |= active.contains(operand);
  if (!depends) return;
  for (const auto& result : op.results) {
    if (is_float(result->type.dtype) && !constants.contains(result.get())) active.insert(result.get());
  }
}

ValueSet reachable_from(std::span<Value* const> wrt, const Block& block, const ValueSet& constants) {
  ValueSet active(wrt.begin(), wrt.end());
  for (const auto& op : block.ops) propagate(*op, active, constants);
  return active;
}

class Differentiator {
 public:
  Differentiator(GraphBuilder& b, ValueSet active, const ValueSet& constants)
      : b_(b), active_(std::move(active)), constants_(constants) {}

  void accumulate(const Value* value, Value* gradient) {
    Value*& sum = gradients_[value];
    sum = sum ? ops::add(b_, sum, gradient) : gradient;
  }

  // Sends the gradients of an op's results on to its operands.
  void visit(const Op& op) {
    const size_t count = op.operands.size();
    const auto needed = std::make_unique<bool[]>(count);
    bool any_needed = false;
    for (size_t i = 0; i < count; ++i) any_needed |= needed[i] = active_.contains(op.operands[i]);
    Values result_gradients;
    bool any_flows = false;
    for (const auto& result : op.results) {
      result_gradients.push_back(constants_.contains(result.get()) ? nullptr : find(result.get()));
      any_flows |= result_gradients.back() != nullptr;
    }
    if (!any_needed || !any_flows || op.def->zero_gradient) return;

    b_.location = op.location;
    if (!op.def->gradient && visit_expansion(op, result_gradients)) return;
    if (!op.def->gradient) {
      throw_error(op.location, fmt::format("{} has no gradient, but the loss depends on a trained value through it; "
                                           "detach() its input or its result to cut it off",
                                           op.name()));
    }
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

  // An op without a gradient of its own may be made of others that have one.
  bool visit_expansion(const Op& op, const Values& result_gradients) {
    if (!op.def->expand) return false;
    const Op& last = *b_.block()->ops.back();
    ExpandArgs args{b_, op};
    const Values made = op.def->expand(args);
    if (made.empty()) return false;
    std::vector<const Op*> parts;
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

  Value* find(const Value* value) const {
    const auto found = gradients_.find(value);
    return found == gradients_.end() ? nullptr : found->second;
  }

 private:
  GraphBuilder& b_;
  ValueSet active_;
  const ValueSet& constants_;
  std::map<const Value*, Value*> gradients_;
};

}  // namespace

Values gradients(GraphBuilder& b, Value* loss, std::span<Value* const> wrt, const GradientOptions& options) {
  const Location location = b.location;
  if (!is_float(loss->type.dtype)) {
    throw_error(location, fmt::format("the loss must be a float, not {}", to_string(loss->type)));
  }
  if (!options.seed && loss->type.rank() != 0) {
    throw_error(location, fmt::format("the loss must be a scalar, not {}: reduce it (mean, sum) or pass its gradient",
                                      to_string(loss->type)));
  }
  if (options.seed && options.seed->type != loss->type) {
    throw_error(location, fmt::format("the gradient of the loss is {}, the loss {}", to_string(options.seed->type),
                                      to_string(loss->type)));
  }
  ValueSet active = reachable_from(wrt, *b.block(), options.constants);
  Values results(wrt.size(), nullptr);
  if (!active.contains(loss)) return results;

  Differentiator differentiator(b, std::move(active), options.constants);
  differentiator.accumulate(loss, options.seed ? options.seed : ops::constant_like(b, loss, 1));
  if (loss->op) {
    for (auto at = std::next(loss->op->self); at != b.block()->ops.begin();) differentiator.visit(**--at);
  }
  for (size_t i = 0; i < wrt.size(); ++i) results[i] = differentiator.find(wrt[i]);
  b.location = location;
  return results;
}

}  // namespace ingot
