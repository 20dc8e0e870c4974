// Rows of a table in an order that data gives: no processor foresees them, so they are asked for before they are read.
#pragma once

#include "aot/schedule/draft.h"

namespace ingot::schedule {

// Whether no cache holds such a table.
bool is_far(const Draft& draft, const TensorType& table);

// The row to ask for beside `row`: some rows later, but before `end`.
loops::Index row_ahead(loops::KernelBuilder& b, const loops::Index& row, int64_t end);

// Fetches a row of so many bytes that begins at an element of a buffer, as far as processors do not foresee it.
void prefetch_row(loops::KernelBuilder& b, loops::BufferId buffer, const loops::Index& first, int64_t bytes);

}  // namespace ingot::schedule
