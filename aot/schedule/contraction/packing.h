// Copies of a contraction's operands, in the order in which its register tile reads.
#pragma once

#include "aot/schedule/contraction/panels.h"

namespace ingot::schedule {

// A block of columns, of a block of the depth.
void pack_columns(ContractionPoint& point, const Panels& panels, const BlockAt& columns, const BlockAt& depth);

// `count` rows from `first` on. `whole`: of all the depth, else of one block.
void pack_rows(ContractionPoint& point, const Panels& panels, const loops::Index& first, int64_t count,
               const BlockAt& depth, bool whole);

// What a block of rows reads of its operand (row_runs.h).
void fill_box(ContractionPoint& point, const Panels& panels, const loops::Index& first, const BlockAt& depth,
              const BlockAt& columns);

// A kernel that packs all columns into the prepared buffer, and nothing else.
void emit_preparation(Step& step, const ContractionPlan& plan, loops::BufferId prepared);

}  // namespace ingot::schedule
