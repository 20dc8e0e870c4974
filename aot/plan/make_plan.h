// From a lowered function to its plan: order, lifetimes, in place, placement.
#pragma once

#include "aot/lowered/lowered.h"
#include "aot/plan/plan.h"
#include "aot/plan/tables.h"

namespace ingot::plan {

// The plan of a function on which separate_results has run and whose copies have kernels. Adds what it needs to
// `rodata` and `kernels`.
Plan make_plan(const lowered::Function& function, const StateTable& state, RodataPool& rodata, KernelTable& kernels);

}  // namespace ingot::plan
