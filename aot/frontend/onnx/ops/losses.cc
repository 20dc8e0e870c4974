// Losses of classification.
#include <fmt/format.h>

#include "aot/frontend/onnx/node_args.h"

namespace ingot::onnx {
namespace {

// x [n, c, ...] are log probabilities, the target [n, ...] class numbers; each target has its class's weight, or none
// where it is to be ignored.
Term negative_log_likelihood(NodeArgs& n, Term x, Term target, int weights_input) {
  if (rank_of(x) < 2 || rank_of(target) != rank_of(x) - 1)
    n.fail("its input must be [batch, classes, ...], its target [batch, ...]");
  const Term numbers = converted(target, DType::kI64);
  std::optional<Term> counted_ones;
  Term safe = numbers;
  if (n.has("ignore_index")) {
    counted_ones = numbers.compare(
        "NE", onnx::broadcast(onnx::integers(n.b, {DType::kI64, {}}, {n.integer("ignore_index")}), numbers.shape()));
    safe = where(*counted_ones, numbers, 0);
  }
  const Term picked = reshape(gather_elements(x, unsqueeze(safe, 1), 1), target.shape());
  Term weights = n.has(weights_input) ? take(n.in(weights_input), safe, 0) : picked.like(1);
  if (counted_ones) weights = where(*counted_ones, weights, 0);
  const Term loss = where(equal(weights, weights.like(0)), 0, -picked * weights);
  const std::string reduction = n.text("reduction", "mean");
  if (reduction == "none") return loss;
  if (reduction != "sum" && reduction != "mean") n.fail(fmt::format("reduction = '{}': none, sum or mean", reduction));
  const auto total = [](Term t) { return reshape(reduce(kAdd, t, all_axes(t)), {}); };
  return reduction == "sum" ? total(loss) : total(loss) / total(weights);
}

}  // namespace

Items lower_negative_log_likelihood_loss(NodeArgs& n) { return negative_log_likelihood(n, n.in(0), n.in(1), 2); }

Items lower_softmax_cross_entropy_loss(NodeArgs& n) {
  const Term log_probabilities = log_softmax(n.in(0), 1);
  return {negative_log_likelihood(n, log_probabilities, n.in(1), 2), log_probabilities};
}

}  // namespace ingot::onnx
