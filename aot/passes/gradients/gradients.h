// Reverse-mode differentiation of a graph: vector-Jacobian products, from a loss back to what it depends on.
#pragma once

#include <set>
#include <span>

#include "aot/graph/builder.h"

namespace ingot {

struct GradientOptions {
  Value* seed = nullptr;             // the gradient of the loss, of its type; null: ones of a scalar loss
  std::set<const Value*> constants;  // nothing flows back beyond these: detached values
};

// d loss / d wrt[i] for each i, as values made by `b` where it stands (at the end of the block that holds `loss`). Null
// where the loss does not depend on wrt[i]: symbolic zeros are never made.
//
// Only ops on a path from some wrt to the loss are differentiated: a frozen parameter costs nothing, nor does what lies
// before the first trained one. Contributions to one value are summed in a fixed order: later readers first, and the
// operands of one reader from left to right.
//
// Errors, at the user's line: a loss that is not a float, or not a scalar and without a seed; an op on the path without
// a gradient, of its own or of what it expands into.
Values gradients(GraphBuilder& b, Value* loss, std::span<Value* const> wrt, const GradientOptions& options = {});

}  // namespace ingot
