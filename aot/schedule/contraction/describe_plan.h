// What was chosen for a contraction, in a line for people.
#pragma once

#include <string>

#include "aot/schedule/contraction/contraction_plan.h"

namespace ingot::schedule {

// "1024 rows x 1024 columns x depth 1024; tile 12x32; ..."
std::string describe(const ContractionPlan& plan);

}  // namespace ingot::schedule
