#include "engine/src/error.h"

#include <ingot/engine.h>

#include <cstdarg>
#include <cstring>

#include "engine/src/format_text.h"

namespace ingot::engine {

namespace {

// Behind the first `said` bytes of its text.
[[gnu::format(printf, 4, 0)]] void fill_in(ingot_error* error, ingot_status status, size_t said, const char* format,
                                           va_list arguments) {
  error->status = status;
  Text(error->text + said, sizeof error->text - said).put_formatted(format, arguments);
}

}  // namespace

ingot_status fail(ingot_error* error, ingot_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (error) fill_in(error, status, 0, format, arguments);
  va_end(arguments);
  return status;
}

ingot_status fail_also(ingot_error* error, ingot_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (error) fill_in(error, status, std::strlen(error->text), format, arguments);
  va_end(arguments);
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
