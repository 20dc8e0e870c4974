// From a function of kernels to its plan: order, lifetimes, in place, placement.
#pragma once

#include <functional>

#include "aot/graph/builder.h"
#include "aot/plan/plan.h"
#include "aot/plan/tables.h"
#include "aot/schedule/lower.h"

namespace ingot::plan {

// The loops of one ingot.kernel op; the reference stays valid.
using LoweringOf = std::function<const Lowering&(const Op&)>;

// Makes every result of `function` the own result of a kernel that may write it where it belongs: state into the
// state's place, after the last reader of the old value, outputs into the host's memory. Where that cannot be (a result
// that is an argument, a constant or another result too; a reader of the old value that needs the new one) a copying
// kernel is added. Gives the number of copies added.
int separate_results(Function& function, const LoweringOf& lowering);

// The plan of a function on which separate_results has run. Adds what it needs to `rodata` and `kernels`.
Plan make_plan(const Function& function, const StateTable& state, RodataPool& rodata, KernelTable& kernels,
               const LoweringOf& lowering);

}  // namespace ingot::plan
