// What a program computes of constants alone, at every run, is computed by the compiler where that pays.
#pragma once

#include "aot/graph/graph.h"
#include "aot/loops/target.h"
#include "aot/lowered/lowered.h"

namespace ingot {

// Runs, of `function`, which `entry` was lowered to, the preparations of constants, and those kernels that read nothing
// else and take at least twice as long as what they give takes to be read. Their results, of a few MiB at most, move
// from the arena to the constants of the bundle: no run takes more memory.
void fold_kernels(lowered::Function& function, const Function& entry, const loops::Target& target);

}  // namespace ingot
