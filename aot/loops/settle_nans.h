// One pattern of bits for every NaN that is computed.
#pragma once

#include "aot/loops/loop.h"

namespace ingot::loops {

// Processors differ in the sign and the payload of a NaN that they compute. Afterwards those that the kernel stores in its
// outputs, or whose bits it looks at, are quiet, positive and without payload. What is only moved, in f32 and f64, stays as
// it is.
void settle_nans(Kernel& kernel);

}  // namespace ingot::loops
