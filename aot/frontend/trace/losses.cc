// Loss functions. Formulas are PyTorch's.
#include <fmt/format.h>

#include "aot/frontend/trace/broadcast.h"
#include "aot/frontend/trace/functions.h"

namespace ingot {
namespace {

Tensor reduced(const Tensor& loss, const std::string& reduction) {
  if (reduction == "none") return loss;
  if (reduction == "sum") return sum(loss);
  if (reduction == "mean") return mean(loss);
  fail(fmt::format("the reduction is 'mean', 'sum' or 'none', not '{}'", reduction));
}

// One loss for each class number: -log p[target], with label smoothing also the mean of -log p over the classes.
// log_p [N, C, ...], target [N, ...].
Tensor class_loss(const Tensor& log_p, const Tensor& target, const CrossEntropyOptions& options) {
  Shape expected = log_p.shape();
  const int64_t axis = log_p.dim() == 1 ? 0 : 1;
  const int64_t classes = expected[axis];
  expected.erase(expected.begin() + axis);
  if (target.shape() != expected || !is_integer(target.dtype())) {
    fail(fmt::format("the target must hold one class number for each row of {}, not be {}", to_string(log_p.type()),
                     to_string(target.type())));
  }
  const Tensor numbers = wrap(ops::iota(builder(), {target.dtype(), log_p.shape()}, axis));
  const Tensor is_target = unsqueeze(target, axis) == numbers;
  const Tensor counts = target != options.ignore_index;
  Tensor loss = -sum(where(is_target, log_p, 0), axis);
  if (options.label_smoothing != 0) {
    const Tensor smooth = sum(log_p, axis) * (-1.0 / static_cast<double>(classes));
    loss = (1 - options.label_smoothing) * loss + options.label_smoothing * smooth;
  }
  const bool may_ignore = options.ignore_index >= 0 && options.ignore_index < classes;
  if (options.label_smoothing != 0 || may_ignore) loss = where(counts, loss, 0);
  if (options.reduction != "mean") return reduced(loss, options.reduction);
  return sum(loss) / sum(to(counts, log_p.dtype()));
}

}  // namespace

Tensor cross_entropy(const In& in, const Tensor& target, const CrossEntropyOptions& options) {
  const Scope scope(in.at);
  const Tensor& logits = in.tensor;
  if (logits.dim() == 0) fail("cross_entropy: the logits have no class dimension");
  const int64_t axis = logits.dim() == 1 ? 0 : 1;
  const Tensor log_p = log_softmax(logits, axis);
  if (!is_float(target.dtype())) return class_loss(log_p, target, options);

  const auto classes = static_cast<double>(logits.size(axis));
  if (target.shape() != logits.shape()) {
    fail(fmt::format("cross_entropy: probabilities {} must have the shape of the logits {}", to_string(target.type()),
                     to_string(logits.type())));
  }
  const double smoothing = options.label_smoothing;
  const Tensor p = smoothing == 0 ? target : target * (1 - smoothing) + smoothing / classes;
  const Tensor loss = -sum(log_p * p, axis);
  if (options.reduction == "mean") return sum(loss) / static_cast<double>(loss.numel());
  return reduced(loss, options.reduction);
}

Tensor nll_loss(const In& log_probabilities, const Tensor& target, const CrossEntropyOptions& options) {
  const Scope scope(log_probabilities.at);
  return class_loss(log_probabilities.tensor, target, options);
}

Tensor mse_loss(const In& input, const Tensor& target, const std::string& reduction) {
  const Scope scope(input.at);
  return reduced(square(input.tensor - target), reduction);
}

Tensor l1_loss(const In& input, const Tensor& target, const std::string& reduction) {
  const Scope scope(input.at);
  return reduced(abs(input.tensor - target), reduction);
}

// max(x, 0) - x y + log(1 + exp(-|x|))
Tensor binary_cross_entropy_with_logits(const In& logits, const Tensor& target, const std::string& reduction) {
  const Scope scope(logits.at);
  const Tensor& x = logits.tensor;
  return reduced(maximum(x, 0) - x * target + log1p(exp(-abs(x))), reduction);
}

}  // namespace ingot
