#include "engine/src/error.h"

#include <ingot/engine.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace ingot::engine {

ingot_status fail(ingot_error* error, ingot_status status, const char* format, ...) {
  if (error) {
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
  }
  return status;
}

ingot_status fail_also(ingot_error* error, ingot_status status, const char* format, ...) {
  if (error) {
    error->status = status;
    const size_t said = std::strlen(error->text);
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(error->text + said, sizeof error->text - said, format, arguments);
    va_end(arguments);
  }
  return status;
}

ingot_status null_argument(ingot_error* error) { return fail(error, INGOT_BAD_ARGUMENT, "an argument is null"); }

ingot_status check_index(const char* what, uint32_t index, uint32_t count, ingot_error* error) {
  if (index < count) return INGOT_OK;
  return fail(error, INGOT_BAD_ARGUMENT, "there is no %s %u: there are %u", what, index, count);
}

}  // namespace ingot::engine

extern "C" uint32_t ingot_api_version() { return INGOT_API_VERSION; }

extern "C" const char* ingot_status_text(int32_t status) {
  switch (status) {
#define INGOT_STATUS_TEXT(NAME, code, text) \
  case code:                                \
    return text;
    INGOT_STATUSES(INGOT_STATUS_TEXT)
#undef INGOT_STATUS_TEXT
    default:
      return "unknown status";
  }
}
