// Convolutions of an operand whose elements lie spread out, as gradients of strided ones are.
#pragma once

#include "aot/graph/graph.h"

namespace ingot {

// Rows of windows that may reach past an end of a line of the operand where kernels read it where it lies.
inline constexpr int64_t kEdgeRowsMax = 16;

// Places of a window that knows its gaps; its weights are in registers or at hand.
inline constexpr int64_t kGapPlacesMax = 12;

// Whether one kernel visits the operand's elements alone and knows as it is made which places of a window are gaps: of
// channels that are convolved apart, by small windows. Any other such convolution is faster phase by phase.
bool skips_gaps(const Op& convolution);

}  // namespace ingot
