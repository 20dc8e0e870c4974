// Reads the text that print(plan) writes.
#pragma once

#include <string>
#include <string_view>

#include "aot/plan/plan.h"

namespace ingot::plan {

// One plan. `file` is what errors say: every mistake is an Error at its line and column. A buffer is named before it is
// used, once, and steps are counted from 0; whether the plan is a right one is for check_plan to say.
Plan parse_plan(std::string_view text, std::string file = "plan");

}  // namespace ingot::plan
