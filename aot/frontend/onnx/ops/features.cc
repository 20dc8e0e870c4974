// Ops of the domain ai.onnx.ml that compute with tensors of numbers.
#include "aot/frontend/onnx/node_args.h"

namespace ingot::onnx {

// Columns of the last axis; a vector is a row.
Items lower_array_feature_extractor(NodeArgs& n) {
  Term x = n.in(0);
  if (rank_of(x) == 0) n.fail("its input needs a dimension");
  if (rank_of(x) == 1) x = unsqueeze(x, 0);
  const Term columns = n.in(1);
  n.check_indices(1, {x.shape().back()}, false);
  return take(x, reshape(columns, {element_count(columns.shape())}), rank_of(x) - 1);
}

Items lower_binarizer(NodeArgs& n) {
  const Term x = n.in(0);
  return converted(x > x.like(n.number("threshold", 0)), dtype_of(x));
}

}  // namespace ingot::onnx
