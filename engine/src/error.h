// Failures with their particulars.
#pragma once

#include <ingot/status.h>

namespace ingot::engine {

// Fills in `error`, unless it is null, with the status and a text made as by printf. Returns the status.
[[gnu::format(printf, 3, 4), gnu::cold]] ingot_status fail(ingot_error* error, ingot_status status, const char* format,
                                                           ...);

// The same, behind what `error` says already.
[[gnu::format(printf, 3, 4), gnu::cold]] ingot_status fail_also(ingot_error* error, ingot_status status,
                                                                const char* format, ...);

// INGOT_BAD_ARGUMENT, for an argument that is null.
ingot_status null_argument(ingot_error* error);

// INGOT_BAD_ARGUMENT unless `index`, of a thing called `what`, is below `count`.
ingot_status check_index(const char* what, uint32_t index, uint32_t count, ingot_error* error);

}  // namespace ingot::engine

// Returns from the calling function if `expression`, an ingot_status, is not INGOT_OK.
#define INGOT_TRY(expression)                                       \
  do {                                                              \
    if (ingot_status status_ = (expression); status_ != INGOT_OK) { \
      return status_;                                               \
    }                                                               \
  } while (0)
