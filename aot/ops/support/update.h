// dynamic_update_slice as a store: only its window is written, where its operand lies.
#pragma once

#include "aot/graph/op.h"

namespace ingot::ops {

// Overwrites some of its operand, but not all.
bool is_update(const Op& op);

// What a view that only adds or drops dimensions of extent 1 shows; null for any other value.
Value* without_unit_dims(const Value* value);

// The value that an update's window is made of, under such views.
Value* window_source(const Op& update);

}  // namespace ingot::ops
