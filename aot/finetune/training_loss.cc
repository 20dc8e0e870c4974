#include "aot/finetune/training_loss.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/base/error.h"
#include "aot/base/join.h"
#include "aot/frontend/trace/trace.h"
#include "aot/ops/ops.h"

namespace ingot {
namespace {

const Op* maker_of(const Tensor& tensor) { return value_of(tensor)->op; }

// The op that made a value, past those that only repeat it along dimensions.
const Op* past_broadcasts(const Value* value) {
  const Op* op = value->op;
  while (op && (op->is(kBroadcastInDim) || op->is(kReshape))) op = op->operand(0)->op;
  return op;
}

// What a model that ends in a softmax takes it of, up to a number for each row; else the output itself. The loss is the
// same and exact, where a logarithm of small probabilities is not.
Tensor logits_of(const Tensor& output) {
  const Op* const quotient = maker_of(output);
  if (!quotient || !quotient->is(kDivide)) return output;
  const Op* const exponential = quotient->operand(0)->op;
  const Op* const sum = past_broadcasts(quotient->operand(1));
  const bool is_softmax = exponential && exponential->is(kExponential) && sum && sum->is(kReduce) &&
                          sum->operand(0) == quotient->operand(0);
  return is_softmax ? wrap(exponential->operand(0)) : output;
}

// --- classes: along dimension 1, as in PyTorch, or the last ---

int64_t last_dim(const TensorType& output) { return output.rank() - 1; }

TensorType class_numbers(const TensorType& output, int64_t dim) {
  if (output.rank() < 2) {
    throw_error(nullptr, fmt::format("a loss over classes wants an output [N, C] or with more dimensions, not {}",
                                     to_string(output)));
  }
  TensorType type{DType::kI32, output.shape};
  type.shape.erase(type.shape.begin() + dim);
  return type;
}

Tensor share_of_right(const Tensor& output, const Tensor& target, int64_t dim) {
  return mean(to(argmax(output, dim) == target, DType::kF32));
}

TensorType class_target(const TensorType& output) { return class_numbers(output, std::min(1, output.rank() - 1)); }
Tensor class_loss(const Tensor& output, const Tensor& target) { return cross_entropy(logits_of(output), target); }
Tensor class_accuracy(const Tensor& output, const Tensor& target) { return share_of_right(output, target, 1); }

TensorType token_target(const TensorType& output) { return class_numbers(output, last_dim(output)); }
Tensor token_loss(const Tensor& output, const Tensor& target) {
  const int64_t classes = output.shape().back();
  return cross_entropy(logits_of(output).reshape({-1, classes}), target.reshape({-1}));
}
Tensor token_accuracy(const Tensor& output, const Tensor& target) {
  return share_of_right(output, target, last_dim(output.type()));
}

// --- elements ---

TensorType same_type(const TensorType& output) { return output; }

// max(x, 0) - x t + log(1 + exp(-|x|))
Tensor binary_loss_of_logits(const Tensor& x, const Tensor& target) {
  return mean(relu(x) - x * target + softplus(-abs(x)));
}

// Of a sigmoid's result, by what it is a sigmoid of; of other probabilities by logarithms of at least -100, as PyTorch.
Tensor binary_loss(const Tensor& p, const Tensor& target) {
  const Op* const op = maker_of(p);
  if (op && op->is(kLogistic)) return binary_loss_of_logits(wrap(op->operand(0)), target);
  const auto log_of = [](const Tensor& x) { return clamp(log(x), -100, Tensor()); };
  return -mean(target * log_of(p) + (1 - target) * log_of(1 - p));
}

Tensor squared_loss(const Tensor& output, const Tensor& target) { return mse_loss(output, target); }
Tensor absolute_loss(const Tensor& output, const Tensor& target) { return l1_loss(output, target); }

}  // namespace

const std::vector<TrainingLoss>& training_losses() {
  static const std::vector<TrainingLoss> losses = {
      {"cross_entropy", "class numbers [N, ...]; the output [N, C, ...] holds logits or a softmax's probabilities",
       class_target, class_loss, class_accuracy},
      {"token_cross_entropy", "the same with the classes in the last dimension: an output [N, T, C]", token_target,
       token_loss, token_accuracy},
      {"binary_cross_entropy", "0 to 1 for each element; the output holds probabilities", same_type, binary_loss,
       nullptr},
      {"binary_cross_entropy_with_logits", "the same; the output holds logits", same_type, binary_loss_of_logits,
       nullptr},
      {"mse_loss", "numbers of the output's type: the mean of squared differences", same_type, squared_loss, nullptr},
      {"l1_loss", "the same: the mean of absolute differences", same_type, absolute_loss, nullptr},
  };
  return losses;
}

const TrainingLoss& find_training_loss(const std::string& name) {
  const auto& losses = training_losses();
  const auto found = std::ranges::find(losses, name, &TrainingLoss::name);
  if (found != losses.end()) return *found;
  std::vector<std::string> names;
  for (const TrainingLoss& loss : losses) names.emplace_back(loss.name);
  throw_error(nullptr, fmt::format("there is no loss '{}'; there are {}", name, join(names, ", ")));
}

}  // namespace ingot
