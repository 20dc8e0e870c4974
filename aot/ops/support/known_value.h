// Values that a program fixes before it runs: what shapes are computed from.
#pragma once

#include <optional>

#include "aot/graph/op.h"

namespace ingot::ops {

// What a small tensor holds, by evaluating what makes it from constants and from the dimensions of other tensors.
// Nothing where it depends on anything else; `blame`, when given, is then the value it depends on.
std::optional<RefTensor> known_value(const Value* value, const Value** blame = nullptr);

}  // namespace ingot::ops
