#include "aot/frontend/onnx/classical_models.h"

#include <fmt/format.h>

namespace ingot::onnx {

Term features(NodeArgs& n, DType dtype) {
  const Term x = converted(n.in(0), dtype);
  if (rank_of(x) != 1 && rank_of(x) != 2) n.fail("its input has rows of features: 1 or 2 dimensions");
  return rank_of(x) == 1 ? unsqueeze(x, 0) : x;
}

Term transformed(NodeArgs& n, Term scores) {
  const std::string name = n.text("post_transform", "NONE");
  if (name == "NONE") return scores;
  if (name == "LOGISTIC") return sigmoid(scores);
  if (name == "SOFTMAX") return softmax(scores, rank_of(scores) - 1);
  n.limit(fmt::format("its attribute post_transform is {}; NONE, LOGISTIC and SOFTMAX are known", name));
}

std::vector<int64_t> class_labels(NodeArgs& n, std::string_view attribute) {
  if (n.has("classlabels_strings")) n.limit("its labels are strings; number the classes");
  return n.integers(attribute);
}

Term label_of_greatest(NodeArgs& n, const std::vector<int64_t>& labels, Term scores) {
  const Term winner = extremes(scores, 1, /*greatest=*/true).indices;
  return take(integers(n.b, {DType::kI64, {std::ssize(labels)}}, labels), winner, 0);
}

}  // namespace ingot::onnx
