// What fusing asks about single ops.
#pragma once

#include "aot/passes/fuse/fuse_access.h"

namespace ingot::fusion {

// Its elements are all of its first operand: any kernel may read through it.
bool is_view(const Op& op);

bool is_splat(const Op& op);

// Costs nothing to make anywhere: iota, a constant of one value.
bool is_free(const Op& op);

// An update of something that lies in memory anyway: its kernel visits the window alone.
bool is_update_in_place(const Op& op);

// The dimensions that a reduce combines, ascending.
std::vector<int> reduced_dims(const Op& reduce);

// Bytes of a row that a kernel of rows keeps at hand.
int64_t row_bytes(const Space& space, const std::vector<int>& reduced);

// Element by element behind `op` stands a reduce of the whole space over `dims`.
bool reads_rows_of_reduce(const Op& op, const Space& space, const std::vector<int>& dims);

// Only gives another shape to what is computed beside reduces of its rows, as a tensor is that is cut into blocks.
bool is_reshape_of_rows(const Op& op);

// Another op reads the operand too, perhaps before its views, or it is small beside what is made of it.
bool is_materialized_anyway(const Value* operand, const Op& reader);

// Every operand is in memory anyway; so is what a kernel of another kind makes.
bool concatenates_materialized(const Op& op);

}  // namespace ingot::fusion
