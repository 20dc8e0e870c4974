#include <algorithm>

#include "aot/passes/pass.h"

namespace ingot {
namespace {

bool is_token_value(const Value* value) { return is_token(value->type.dtype); }

// Takes the tokens from the operands of every op.
bool drop_operands(Block& block) {
  bool changed = false;
  for (const auto& op : block.ops) {
    for (const auto& region : op->regions) changed |= drop_operands(*region);
    Values kept = op->operands;
    std::erase_if(kept, is_token_value);
    if (kept.size() == op->operands.size()) continue;
    for (size_t i = 0; i < op->operands.size(); ++i) {
      const int index = static_cast<int>(i);
      if (i < kept.size()) {
        op->set_operand(index, kept[i]);
      } else {
        std::erase(op->operands[i]->uses, Value::Use{op.get(), index});
      }
    }
    op->operands.resize(kept.size());
    changed = true;
  }
  return changed;
}

// Removes the tokens among results or arguments, which nobody reads any more.
bool drop(std::vector<std::unique_ptr<Value>>& values) {
  const bool changed = std::erase_if(values, [](const auto& value) { return is_token_value(value.get()); }) > 0;
  for (size_t i = 0; i < values.size(); ++i) values[i]->index = static_cast<int>(i);
  return changed;
}

bool drop_definitions(Block& block) {
  bool changed = drop(block.arguments);
  for (auto at = block.ops.begin(); at != block.ops.end();) {
    Op& op = **at++;
    for (const auto& region : op.regions) changed |= drop_definitions(*region);
    const bool had_results = !op.results.empty();
    changed |= drop(op.results);
    if (had_results && op.results.empty() && !op.def->has_side_effect) erase(&op);
  }
  return changed;
}

}  // namespace

bool drop_tokens(Module& module, PassContext&) {
  bool changed = false;
  for (const auto& function : module.functions) {
    for (size_t i = function->argument_attrs.size(); i-- > 0;) {
      if (is_token_value(function->body.argument(static_cast<int>(i)))) {
        function->argument_attrs.erase(function->argument_attrs.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    std::erase_if(function->results, [](const FunctionResult& result) { return is_token(result.type.dtype); });
    changed |= drop_operands(function->body);
    changed |= drop_definitions(function->body);
  }
  return changed;
}

}  // namespace ingot
