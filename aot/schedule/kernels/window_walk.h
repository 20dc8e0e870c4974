// Walks through the windows that slide over an operand (aot/ops/support/window.h).
#pragma once

#include "aot/ops/support/window.h"
#include "aot/schedule/draft.h"

namespace ingot::schedule {

// body(offset in the window) for all of them in order.
void walk_offsets(loops::KernelBuilder& b, const Shape& sizes,
                  const std::function<void(const std::vector<loops::Index>& offset)>& body);

// Where the window at `position` finds its element `offset`; `mask` takes on the condition that there is one.
std::vector<loops::Index> place_of(loops::KernelBuilder& b, const ops::Window& window, const Shape& shape,
                                   const std::vector<loops::Index>& position, const std::vector<loops::Index>& offset,
                                   loops::Expr& mask);

// How many innermost dimensions, `merged` at most, may be walked as one beside a window: those that it passes through.
int collapsible_dims(const Draft& draft, const ops::Window& window, const Values& operands, int merged);

}  // namespace ingot::schedule
