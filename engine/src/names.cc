#include "engine/src/names.h"

#include <cstring>

namespace ingot::engine {

bool same_name(const char* a, const char* b) { return std::strcmp(a, b) == 0; }

bool is_name_or_suffix(const char* name, const char* full) {
  const size_t name_bytes = std::strlen(name), full_bytes = std::strlen(full);
  if (name_bytes == 0 || name_bytes > full_bytes) return false;
  if (std::memcmp(full + full_bytes - name_bytes, name, name_bytes) != 0) return false;
  return name_bytes == full_bytes || full[full_bytes - name_bytes - 1] == '.';
}

ingot_status no_such_name(const char* what, const char* name, ingot_error* error) {
  return fail(error, INGOT_NO_SUCH_NAME, "there is no %s '%.150s'", what, name);
}

ingot_status ambiguous_name(const char* what, const char* name, const char* one, const char* other,
                            ingot_error* error) {
  return fail(error, INGOT_AMBIGUOUS_NAME, "%s '%.60s' may mean '%.70s' or '%.70s'", what, name, one, other);
}

}  // namespace ingot::engine
