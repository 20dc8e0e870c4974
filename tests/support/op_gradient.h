// Reverse-mode differentiation of one function for tests: nothing but the gradient columns, applied from the last op to
// the first.
#pragma once

#include <algorithm>
#include <map>
#include <set>

#include "aot/ops/support/build.h"

namespace ingot {

// Turns `function` (x...) -> (y...) into (x..., dy...) -> (dx...), with one dy for each float result and one dx for
// each float argument.
inline void make_gradient(Function& function) {
  Block& body = function.body;
  const Values results = body.terminator()->operands;
  erase(body.terminator());
  std::vector<Op*> ops;
  for (const auto& op : body.ops) ops.push_back(op.get());

  std::set<const Value*> varied;  // floats that depend on the arguments
  Values arguments;
  for (const auto& argument : body.arguments) {
    if (!is_float(argument->type.dtype)) continue;
    arguments.push_back(argument.get());
    varied.insert(argument.get());
  }
  const auto is_varied = [&](const Value* value) { return varied.contains(value); };
  for (const Op* op : ops) {
    for (const auto& result : op->results) {
      if (is_float(result->type.dtype) && std::ranges::any_of(op->operands, is_varied)) varied.insert(result.get());
    }
  }

  GraphBuilder b;
  b.at_end(body);
  std::map<const Value*, Value*> gradients;
  const auto accumulate = [&](const Value* value, Value* gradient) {
    Value*& sum = gradients[value];
    sum = sum ? ops::add(b, sum, gradient) : gradient;
  };
  for (const Value* result : results) {
    if (!is_float(result->type.dtype)) continue;
    Value* dy = body.add_argument(result->type, "dy" + std::to_string(result->index));
    function.argument_attrs.emplace_back();
    accumulate(result, dy);
  }
  for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
    if ((*op)->def->zero_gradient) continue;
    Values result_gradients;
    for (const auto& result : (*op)->results) result_gradients.push_back(gradients[result.get()]);
    const auto needed = std::make_unique<bool[]>((*op)->operands.size());
    for (size_t i = 0; i < (*op)->operands.size(); ++i) needed[i] = is_varied((*op)->operands[i]);
    const std::span<const bool> needed_span(needed.get(), (*op)->operands.size());
    if (std::ranges::none_of(result_gradients, [](Value* v) { return v; })) continue;
    if (std::ranges::none_of(needed_span, [](bool is_needed) { return is_needed; })) continue;
    GradientArgs args{b, **op, result_gradients, needed_span};
    const Values operand_gradients = (*op)->def->gradient(args);
    for (size_t i = 0; i < operand_gradients.size(); ++i) {
      if (operand_gradients[i]) accumulate((*op)->operands[i], operand_gradients[i]);
    }
  }

  Values outputs;
  function.results.clear();
  for (Value* argument : arguments) {
    outputs.push_back(gradients[argument] ? gradients[argument] : ops::zeros_like(b, argument));
    function.results.push_back({argument->type, {}});
  }
  b.create(kFuncReturn, outputs);
}

}  // namespace ingot
