#include "aot/ops/batch_norm.h"

#include <fmt/format.h>

#include "aot/ops/build.h"

namespace ingot::ops {

void check_features(const InferArgs& args, size_t vectors) {
  const TensorType& x = args.operands[0];
  if (!is_float(x.dtype)) args.fail(fmt::format("{} is no tensor of floats", to_string(x)));
  const int64_t feature_index = args.attrs().integer("feature_index");
  if (feature_index < 0 || feature_index >= x.rank()) {
    args.fail(fmt::format("feature_index = {}: {} has no such dimension", feature_index, to_string(x)));
  }
  const TensorType features{x.dtype, {x.shape[feature_index]}};
  for (size_t i = 1; i <= vectors; ++i) {
    if (args.operands[i] == features) continue;
    args.fail(fmt::format("operand {} is {}; for each feature of {} it must be {}", i, to_string(args.operands[i]),
                          to_string(x), to_string(features)));
  }
}

Value* broadcast_feature(GraphBuilder& b, const Op& op, Value* vector) {
  return broadcast_in_dim(b, vector, op.operand(0)->type.shape, {op.attrs().integer("feature_index")});
}

}  // namespace ingot::ops
