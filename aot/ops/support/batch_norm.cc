#include "aot/ops/support/batch_norm.h"

#include <fmt/format.h>

#include "aot/ops/support/index.h"

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

int64_t elements_of_feature(const Op& op) {
  Shape others = op.operand(0)->type.shape;
  others.erase(others.begin() + op.attrs().integer("feature_index"));
  return element_count(others);
}

FeatureAlgebra::FeatureAlgebra(GraphBuilder& b, const Op& op)
    : b_(b), op_(op), dtype_(op.operand(0)->type.dtype), feature_index_(op.attrs().integer("feature_index")) {}

Term FeatureAlgebra::wide(Value* value) const {
  return {b_, convert(b_, value, info(dtype_).bits < 32 ? DType::kF32 : dtype_)};
}

Term FeatureAlgebra::narrow(Value* value) const { return {b_, convert(b_, value, dtype_)}; }

Term FeatureAlgebra::sum(Value* x) const {
  return {b_, reduce(b_, kAdd, x, other_dims(x->type.rank(), {feature_index_}))};
}

Term FeatureAlgebra::mean(Value* x) const { return sum(x) / static_cast<double>(count()); }

Term FeatureAlgebra::repeat(Value* vector) const {
  return {b_, broadcast_in_dim(b_, vector, op_.operand(0)->type.shape, {feature_index_})};
}

}  // namespace ingot::ops
