// What the batch normalisations share: tensors with a dimension of features, and statistics for each of these.
#pragma once

#include "aot/graph/builder.h"
#include "aot/ops/support/algebra.h"

namespace ingot::ops {

// The first operand is a float tensor that has dimension `feature_index`; the next `vectors` operands have its dtype
// and one element for each feature.
void check_features(const InferArgs& args, size_t vectors);

// How many elements of the first operand of `op` belong to one feature.
int64_t elements_of_feature(const Op& op);

// Sums over features of `op`, in f32 at least.
class FeatureAlgebra {
 public:
  FeatureAlgebra(GraphBuilder& b, const Op& op);

  int64_t count() const { return elements_of_feature(op_); }
  Term wide(Value* value) const;    // in the precision of sums
  Term narrow(Value* value) const;  // and back
  Term sum(Value* x) const;         // of each feature's elements
  Term mean(Value* x) const;
  Term repeat(Value* vector) const;  // along the other dimensions of the first operand

 private:
  GraphBuilder& b_;
  const Op& op_;
  DType dtype_;
  int64_t feature_index_;
};

}  // namespace ingot::ops
