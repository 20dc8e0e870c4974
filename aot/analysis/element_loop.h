// Loops that run for each element by itself.
#pragma once

#include "aot/graph/op.h"

namespace ingot {

// A loop with a counter whose other carried values have one shape, and whose body makes an element of their next iteration
// from elements of this one, and of values from outside, at the same index, from the counter and from single numbers.
// Nobody reads the counter afterwards. Such a loop is one kernel: iterations run inside, for elements in registers.
bool is_element_loop(const Op& loop);

}  // namespace ingot
