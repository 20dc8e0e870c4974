// The order of a plan's steps as people look at it: what lives in the arena while each runs, and where that is most.
#pragma once

#include <string>
#include <vector>

#include "aot/plan/plan.h"

namespace ingot::plan {

// Bytes of the arena that are live while each step runs, sizes rounded up to the alignment. The most is the plan's
// lower bound.
std::vector<int64_t> live_bytes(const Plan& plan);

//   order of train_step: 640 bytes live at most (at *), arena 640 bytes
//     step       live
//        0        256  f32_dot_32x10x64: makes h (256)
//     *  1        640  f32_rows: makes lossrow (384), ends h (256)
std::string explain_order(const Plan& plan);

}  // namespace ingot::plan
