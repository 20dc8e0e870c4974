// What the results of an op are, also where dimensions are not known yet.
#pragma once

#include "aot/graph/op.h"

namespace ingot {

// What def.infer says. Where a type has an unknown dimension and infer does not hold for those: the declared types; of
// elementwise ops with the dimensions that any operand or result tells, checked by infer. Errors as infer's, or that
// the declared types are missing.
std::vector<TensorType> result_types(const OpDef& def, const InferArgs& args);

// What def.infer says of types of which some may have unknown dimensions, whether or not it holds for those. Where it
// sees no quantization, results are quantized as declared.
std::vector<TensorType> inferred_types(const OpDef& def, const InferArgs& args);

// Whether two types may turn out to be the same: one dtype and rank, and no two known dimensions that differ.
bool may_agree(const TensorType& a, const TensorType& b);

// `type` with the dimensions that `other` knows, without bounds once all are known. may_agree(type, other).
TensorType refined(TensorType type, const TensorType& other);

}  // namespace ingot
