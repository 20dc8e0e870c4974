// Names: how entry points, inputs, outputs and states are found by a name or a suffix of it.
#pragma once

#include "engine/src/bundle_metadata.h"

namespace ingot::engine {

// Things in a bundle that have names.
struct Names {
  const char* what;  // "input", "state": for the error's text
  uint32_t count;
  const char* (*name_of)(const Metadata& metadata, uint32_t entry, uint32_t index);
  uint32_t entry = 0;  // whose things they are, as far as an entry has them
  uint32_t first = 0;  // the index that name_of knows the first of them by
};

// Finds the one whose name is `name`; failing that, the only one whose name ends in it, behind a dot.
ingot_status find_by_name(const Metadata& metadata, const Names& names, const char* name, uint32_t* out,
                          ingot_error* error);

}  // namespace ingot::engine
