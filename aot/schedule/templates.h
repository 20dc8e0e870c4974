// The templates: each turns a root op, with what can be made along with it, into steps.
#pragma once

#include "aot/schedule/draft.h"

namespace ingot::schedule {

// Values of one shape, element by element. Everything that they need is in buffers or has an `element`.
void lower_elementwise(Draft& draft, const Values& values);

// Reduces that share an index space, normalisations and the like: rows of trailing dimensions, or columns.
void lower_reduce(Draft& draft, const Op& root);

void lower_contraction(Draft& draft, const Op& root);
void lower_window(Draft& draft, const Op& root);
void lower_select_scatter(Draft& draft, const Op& root);
void lower_scatter(Draft& draft, const Op& root);
void lower_sort(Draft& draft, const Op& root);
void lower_top_k(Draft& draft, const Op& root);

// A loop whose iterations go inside, element by element (aot/analysis/element_loop.h).
void lower_element_loop(Draft& draft, const Op& root);

// What goes step by step: each element follows from those before it.
void lower_cholesky(Draft& draft, const Op& root);
void lower_triangular_solve(Draft& draft, const Op& root);

}  // namespace ingot::schedule
