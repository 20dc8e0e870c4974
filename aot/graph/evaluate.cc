#include "aot/graph/evaluate.h"

#include <fmt/format.h>

#include <map>

#include "aot/graph/op.h"

namespace ingot {
namespace {

class Evaluator {
 public:
  explicit Evaluator(const EvaluateOptions& options) : options_(options) {}

  std::vector<Tensor> run_op(const Op& op, std::span<const Tensor> inputs) {
    if (!op.def->evaluate) throw_limit(op.location, fmt::format("{}: has no reference evaluation", op.name()));
    std::vector<Tensor> results = op.def->evaluate({op, inputs, run_});
    for (Tensor& result : results) {
      if (options_.round || !result.is_float()) round_in_place(result);
    }
    return results;
  }

  std::vector<Tensor> run_block(const Block& block, std::vector<Tensor> arguments) {
    INGOT_CHECK(arguments.size() == block.arguments.size());
    for (size_t i = 0; i < arguments.size(); ++i) values_[block.argument(static_cast<int>(i))] = std::move(arguments[i]);
    for (const auto& op : block.ops) {
      std::vector<Tensor> inputs;
      for (const Value* operand : op->operands) inputs.push_back(values_.at(operand));
      if (op->def->is_terminator) return inputs;
      std::vector<Tensor> results = run_op(*op, inputs);
      for (size_t i = 0; i < results.size(); ++i) values_[op->result(static_cast<int>(i))] = std::move(results[i]);
    }
    throw_bug("evaluate: a block has no terminator");
  }

 private:
  const EvaluateOptions& options_;
  std::map<const Value*, Tensor> values_;
  std::function<std::vector<Tensor>(const Block&, std::vector<Tensor>)> run_ =
      [this](const Block& block, std::vector<Tensor> arguments) {
        // A called function may be active already (never recursive) and regions run many times: values are overwritten.
        return run_block(block, std::move(arguments));
      };
};

}  // namespace

std::vector<Tensor> evaluate(const Function& function, std::vector<Tensor> arguments, const EvaluateOptions& options) {
  if (arguments.size() != function.body.arguments.size()) {
    throw_error(function.location, fmt::format("@{} takes {} arguments, not {}", function.name,
                                               function.body.arguments.size(), arguments.size()));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const TensorType& expected = function.body.arguments[i]->type;
    if (arguments[i].type != expected) {
      throw_error(function.location, fmt::format("@{}: argument {} is {}, not {}", function.name, i, to_string(expected),
                                                 to_string(arguments[i].type)));
    }
  }
  return Evaluator(options).run_block(function.body, std::move(arguments));
}

std::vector<Tensor> evaluate(const Op& op, std::span<const Tensor> inputs, const EvaluateOptions& options) {
  return Evaluator(options).run_op(op, inputs);
}

}  // namespace ingot
