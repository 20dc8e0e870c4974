// Products of bf16 by a target's instruction for two of them (loops::Target::pair_products).
#pragma once

#include <memory>

#include "aot/graph/op.h"
#include "aot/loops/target.h"

namespace ingot::schedule {

// The kernel with the operands of its products and convolutions of bf16 as words of two neighbours along the depth; the
// block has that one op. Null where nothing changes.
std::unique_ptr<Block> in_pairs(const Op& kernel, const loops::Target& target);

}  // namespace ingot::schedule
