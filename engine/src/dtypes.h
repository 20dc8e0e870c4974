// The columns of schema/dtype.h as functions.
#pragma once

#include <cstdint>

#include "schema/dtype.h"

namespace ingot::engine {

// Bytes of an element; 0 for a code that is no type.
inline uint64_t item_bytes(uint32_t dtype) {
  switch (dtype) {
#define INGOT_DTYPE_BYTES(NAME, code, bytes, stablehlo, safetensors) \
  case code:                                                         \
    return bytes;
    INGOT_DTYPES(INGOT_DTYPE_BYTES)
#undef INGOT_DTYPE_BYTES
    default:
      return 0;
  }
}

inline const char* safetensors_name(ingot_dtype dtype) {
  switch (dtype) {
#define INGOT_SAFETENSORS_NAME(NAME, code, bytes, stablehlo, safetensors) \
  case INGOT_##NAME:                                                      \
    return safetensors;
    INGOT_DTYPES(INGOT_SAFETENSORS_NAME)
#undef INGOT_SAFETENSORS_NAME
  }
  return "";
}

}  // namespace ingot::engine
