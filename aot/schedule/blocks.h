// Kernels that are made block by block (aot/analysis/block_region.h): all steps of a block in one task. And their stages,
// which are kernels of their own that hand on what they make.
#pragma once

#include <optional>

#include "aot/analysis/block_region.h"
#include "aot/schedule/lower.h"

namespace ingot::schedule {

// One kernel: a task is a block, and runs the steps that the templates make of it one after the other. What these hand
// on is in the task's scratch. Nullopt where a block cannot be told apart, or its steps have vectors of several widths.
std::optional<Lowering> lower_in_blocks(const Op& kernel, const KernelBlocks& blocks, const loops::Target& target,
                                        const LowerOptions& options);

// Stage after stage, each with what it makes in a buffer.
Lowering lower_stages(const Op& kernel, const loops::Target& target, const LowerOptions& options);

}  // namespace ingot::schedule
