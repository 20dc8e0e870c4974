// The consistency of a BundleSpec: counts, indices and names. What a plan does to memory is proved elsewhere, twice: by
// the planner's checker and by the engine when it loads the bundle.
#pragma once

#include "aot/bundle/bundle.h"

namespace ingot::bundle {

// Throws a bug that names the first field that contradicts another.
void check_spec(const BundleSpec& spec);

// How many operands a step has. `kernel` as in Step.
size_t operand_count(const Target& target, StepKind kind, uint32_t kernel);

}  // namespace ingot::bundle
