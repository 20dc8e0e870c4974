// What the batch normalisations share: tensors with a dimension of features, and statistics for each of these.
#pragma once

#include "aot/graph/builder.h"

namespace ingot::ops {

// The first operand is a float tensor that has dimension `feature_index`; the next `vectors` operands have its dtype
// and one element for each feature.
void check_features(const InferArgs& args, size_t vectors);

// A vector over the features of `op`, repeated along the other dimensions of its first operand.
Value* broadcast_feature(GraphBuilder& b, const Op& op, Value* vector);

}  // namespace ingot::ops
