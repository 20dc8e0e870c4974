#include "engine/src/names.h"

#include <cstring>

namespace ingot::engine {
namespace {

// True if `full` ends in `name`, behind one of its dots.
bool is_suffix(const char* name, const char* full) {
  const size_t name_bytes = std::strlen(name), full_bytes = std::strlen(full);
  return name_bytes > 0 && name_bytes < full_bytes && full[full_bytes - name_bytes - 1] == '.' &&
         std::strcmp(full + full_bytes - name_bytes, name) == 0;
}

}  // namespace

ingot_status find_by_name(const Metadata& metadata, const Names& names, const char* name, uint32_t* out,
                          ingot_error* error) {
  const char *found = nullptr, *second = nullptr;
  uint32_t index = 0;  // of the one that was found
  for (uint32_t i = 0; i < names.count; ++i) {
    const char* full = names.name_of(metadata, names.entry, names.first + i);
    if (std::strcmp(name, full) == 0) {
      *out = i;
      return INGOT_OK;
    }
    if (!is_suffix(name, full)) continue;
    if (!found) index = i;
    (found ? second : found) = full;
  }
  if (!found) return fail(error, INGOT_NO_SUCH_NAME, "there is no %s '%.150s'", names.what, name);
  if (second) {
    return fail(error, INGOT_AMBIGUOUS_NAME, "%s '%.60s' may mean '%.70s' or '%.70s'", names.what, name, found, second);
  }
  *out = index;
  return INGOT_OK;
}

}  // namespace ingot::engine
