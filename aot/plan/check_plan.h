// An independent judge of plans: it replays a plan's steps over byte ranges and shares no code with the planner.
#pragma once

#include "aot/plan/plan.h"

namespace ingot::plan {

// Throws a kBug error that names the step, the buffer and what is wrong:
//   a buffer lies outside its space or is misaligned
//   a step uses a buffer outside of its life, or writes what is read only, or writes over its own operand
//   a read finds bytes that were never written, or another buffer's
//   two steps without a barrier between them touch the same bytes, one of them writing
//   a result is not in its place after the last step
// `state_bytes` and `rodata_bytes` are the sizes of those spaces.
void check_plan(const Plan& plan, int64_t state_bytes, int64_t rodata_bytes);

}  // namespace ingot::plan
