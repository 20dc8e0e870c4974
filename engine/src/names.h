// Names: how entry points, inputs, outputs and states are found by a name or a suffix of it.
#pragma once

#include <cstdint>

#include "engine/src/error.h"

namespace ingot::engine {

// True if `name` is `full`, or all of it behind one of its dots.
bool is_name_or_suffix(const char* name, const char* full);

// Finds the one of `count` things whose name is `name`; failing that, the only one whose name ends in it.
//   what     "input", "state": for the error's text
//   name_of  const char* (uint32_t index)
template <typename NameOf>
ingot_status find_by_name(const char* what, const char* name, uint32_t count, const NameOf& name_of, uint32_t* out,
                          ingot_error* error);

ingot_status no_such_name(const char* what, const char* name, ingot_error* error);
ingot_status ambiguous_name(const char* what, const char* name, const char* one, const char* other, ingot_error* error);
bool same_name(const char* a, const char* b);

template <typename NameOf>
ingot_status find_by_name(const char* what, const char* name, uint32_t count, const NameOf& name_of, uint32_t* out,
                          ingot_error* error) {
  const uint32_t none = count;
  uint32_t found = none, second = none;
  for (uint32_t i = 0; i < count; ++i) {
    const char* full = name_of(i);
    if (same_name(name, full)) {
      *out = i;
      return INGOT_OK;
    }
    if (!is_name_or_suffix(name, full)) continue;
    (found == none ? found : second) = i;
  }
  if (found == none) return no_such_name(what, name, error);
  if (second != none) return ambiguous_name(what, name, name_of(found), name_of(second), error);
  *out = found;
  return INGOT_OK;
}

}  // namespace ingot::engine
