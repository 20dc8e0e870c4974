// Ops of the domain ai.onnx.ml that scale features and multiply them by coefficients, as of scikit-learn's linear models.
#include <fmt/format.h>

#include "aot/frontend/onnx/classical_models.h"

namespace ingot::onnx {
namespace {

// One number for each feature, or for all of them.
Term by_feature(NodeArgs& n, std::string_view name, double otherwise, Term x) {
  const std::vector<double> values = n.numbers(name, {otherwise});
  const auto count = static_cast<int64_t>(values.size());
  if (count != 1 && count != x.shape().back())
    n.fail(fmt::format("its attribute {} has {} numbers for {} features", name, count, x.shape().back()));
  return broadcast(floats(n.b, {dtype_of(x), {count}}, values), x.shape());
}

// x by `rows` rows of coefficients, and intercepts.
Term linear(NodeArgs& n, Term x, int64_t rows) {
  const std::vector<double> coefficients = n.numbers("coefficients"), intercepts = n.numbers("intercepts");
  const int64_t columns = x.shape().back();
  if (rows < 1 || std::ssize(coefficients) != rows * columns)
    n.fail(fmt::format("its attribute coefficients has {} numbers for {} results of {} features", coefficients.size(),
                       rows, columns));
  const Term y = matmul(x, transpose(floats(n.b, {dtype_of(x), {rows, columns}}, coefficients), {1, 0}));
  if (intercepts.empty()) return y;
  if (std::ssize(intercepts) != rows)
    n.fail(fmt::format("its attribute intercepts has {} numbers for {} results", intercepts.size(), rows));
  return y + broadcast(floats(n.b, {dtype_of(x), {rows}}, intercepts), y.shape());
}

// What rows are divided by.
Term length(NodeArgs& n, Term x) {
  const std::string norm = n.text("norm", "MAX");
  if (norm == "MAX") return reduce(kMaximum, x, {1});
  if (norm == "L1") return reduce(kAdd, abs(x), {1});
  if (norm == "L2") return square_root(reduce(kAdd, x * x, {1}));
  n.fail(fmt::format("its attribute norm is {}: MAX, L1 or L2", norm));
}

}  // namespace

Items lower_scaler(NodeArgs& n) {
  const Term x = converted(n.in(0), DType::kF32);
  if (rank_of(x) == 0) n.fail("its input needs a dimension of features");
  return (x - by_feature(n, "offset", 0, x)) * by_feature(n, "scale", 1, x);
}

// A row of length 0 stays.
Items lower_normalizer(NodeArgs& n) {
  const Term x = features(n), by = broadcast(length(n, x), x.shape());
  return reshape(where(equal(by, by.like(0)), x, x / by), n.in(0).shape());
}

Items lower_linear_regressor(NodeArgs& n) { return transformed(n, linear(n, features(n), n.integer("targets", 1))); }

// The label of the greatest score, and the scores.
Items lower_linear_classifier(NodeArgs& n) {
  const std::vector<int64_t> labels = class_labels(n, "classlabels_ints");
  const auto classes = static_cast<int64_t>(labels.size());
  const Term x = features(n);
  if (classes == 2 && std::ssize(n.numbers("coefficients")) == x.shape().back())
    n.limit("it has coefficients for one of its two classes; give them for both");
  const Term scores = linear(n, x, classes);
  return {Item(label_of_greatest(n, labels, scores)), Item(transformed(n, scores))};
}

}  // namespace ingot::onnx
