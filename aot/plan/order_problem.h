// The order problem of a block: which of its nodes may run when, and the bytes that each needs.
#pragma once

#include <set>
#include <vector>

#include "aot/lowered/lowered.h"
#include "aot/plan/dependencies.h"
#include "aot/plan/order.h"

namespace ingot::plan {

// All edges between a block's nodes that a plan heeds: results of the block are made where `replaced` are, each after
// the last reader of what was there. (kNoValue: in nobody's place.)
Dependencies edges_of(const lowered::Function& function, const lowered::Block& block,
                      const std::vector<ValueId>& replaced);

struct BlockOrder {
  OrderProblem problem;         // its nodes are the block's
  std::vector<ValueId> values;  // which the problem numbers
};

// Bytes are the arena's: what lies in the place of arguments, or of `elsewhere`, the first values of other such places,
// costs nothing.
BlockOrder order_of(const lowered::Function& function, const lowered::Block& block, const Dependencies& edges,
                    const std::set<ValueId>& elsewhere);

}  // namespace ingot::plan
