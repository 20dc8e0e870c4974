#include "aot/graph/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "aot/graph/op.h"
#include "aot/graph/quantization.h"

namespace ingot {
namespace {

// What ops compute with: a quantized value is the product of an integer and a scale, rounded to the expressed type.
std::vector<RefTensor> in_expressed_types(std::span<const RefTensor> tensors) {
  std::vector<RefTensor> expressed(tensors.begin(), tensors.end());
  for (RefTensor& tensor : expressed) {
    if (!is_quantized(tensor.type)) continue;
    tensor.type = expressed_type(tensor.type);
    round_in_place(tensor);
  }
  return expressed;
}

class Evaluator {
 public:
  explicit Evaluator(const EvaluateOptions& options) : options_(options) {}

  std::vector<RefTensor> run_op(const Op& op, std::span<const RefTensor> inputs) {
    if (!op.def->evaluate) throw_limit(op.location, fmt::format("{}: has no reference evaluation", op.name()));
    for (const auto& result : op.results) {
      if (result->type.is_static()) continue;
      throw_error(op.location,
                  fmt::format("{}: its result {} has an unknown dimension", op.name(), to_string(result->type)));
    }
    std::vector<RefTensor> expressed;
    const bool computes = !op.def->only_moves() && !op.def->keeps_bits && !op.def->infer_sees_quantized;
    if (computes && std::ranges::any_of(inputs, is_quantized, &RefTensor::type))
      inputs = expressed = in_expressed_types(inputs);
    std::vector<RefTensor> results = op.def->evaluate({op, inputs, run_, options_.round_partial_sums});
    if (options_.adjust) options_.adjust(op, inputs, results);
    for (size_t i = 0; i < results.size(); ++i) {
      RefTensor& result = results[i];
      result.type = op.result(static_cast<int>(i))->type;
      if (options_.round || !result.is_float() || result.type.quantization) round_in_place(result);
    }
    return results;
  }

  std::vector<RefTensor> run_block(const Block& block, std::vector<RefTensor> arguments) {
    INGOT_CHECK(arguments.size() == block.arguments.size());
    for (size_t i = 0; i < arguments.size(); ++i)
      values_[block.argument(static_cast<int>(i))] = std::move(arguments[i]);
    for (const auto& op : block.ops) {
      std::vector<RefTensor> inputs;
      for (const Value* operand : op->operands) inputs.push_back(values_.at(operand));
      if (op->def->is_terminator) return inputs;
      std::vector<RefTensor> results = run_op(*op, inputs);
      for (size_t i = 0; i < results.size(); ++i) values_[op->result(static_cast<int>(i))] = std::move(results[i]);
    }
    throw_bug("evaluate: a block has no terminator");
  }

 private:
  const EvaluateOptions& options_;
  std::map<const Value*, RefTensor> values_;
  std::function<std::vector<RefTensor>(const Block&, std::vector<RefTensor>)> run_ =
      [this](const Block& block, std::vector<RefTensor> arguments) {
        // A called function may be active already (never recursive) and regions run many times: values are overwritten.
        return run_block(block, std::move(arguments));
      };
};

}  // namespace

std::vector<RefTensor> evaluate(const Function& function, std::vector<RefTensor> arguments,
                                const EvaluateOptions& options) {
  if (arguments.size() != function.body.arguments.size()) {
    throw_error(function.location, fmt::format("@{} takes {} arguments, not {}", function.name,
                                               function.body.arguments.size(), arguments.size()));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const TensorType& expected = function.body.arguments[i]->type;
    if (arguments[i].type != expected) {
      throw_error(function.location, fmt::format("@{}: argument {} is {}, not {}", function.name, i,
                                                 to_string(expected), to_string(arguments[i].type)));
    }
  }
  return Evaluator(options).run_block(function.body, std::move(arguments));
}

std::vector<RefTensor> evaluate(const Op& op, std::span<const RefTensor> inputs, const EvaluateOptions& options) {
  return Evaluator(options).run_op(op, inputs);
}

}  // namespace ingot
