/* Element types: the codes that bundles store, their sizes, and their names here and in safetensors files.
 *
 * Plain C. A code never changes its meaning; new types are added at the end. Types narrower than a byte are stored one
 * element per byte (sign or zero extended), bool as 0 or 1.
 */
#ifndef INGOT_SCHEMA_DTYPE_H_
#define INGOT_SCHEMA_DTYPE_H_

#include <stdint.h>

/* X(NAME, code, bytes per element, StableHLO's name, safetensors' name) */
#define INGOT_DTYPES(X)                     \
  X(BOOL, 1, 1, "i1", "BOOL")               \
  X(I2, 2, 1, "i2", "I8")                   \
  X(I4, 3, 1, "i4", "I8")                   \
  X(I8, 4, 1, "i8", "I8")                   \
  X(I16, 5, 2, "i16", "I16")                \
  X(I32, 6, 4, "i32", "I32")                \
  X(I64, 7, 8, "i64", "I64")                \
  X(U2, 8, 1, "ui2", "U8")                  \
  X(U4, 9, 1, "ui4", "U8")                  \
  X(U8, 10, 1, "ui8", "U8")                 \
  X(U16, 11, 2, "ui16", "U16")              \
  X(U32, 12, 4, "ui32", "U32")              \
  X(U64, 13, 8, "ui64", "U64")              \
  X(F16, 14, 2, "f16", "F16")               \
  X(BF16, 15, 2, "bf16", "BF16")            \
  X(F32, 16, 4, "f32", "F32")               \
  X(F64, 17, 8, "f64", "F64")               \
  X(F8E4M3FN, 18, 1, "f8E4M3FN", "F8_E4M3") \
  X(F8E5M2, 19, 1, "f8E5M2", "F8_E5M2")     \
  X(C64, 20, 8, "complex<f32>", "C64")      \
  X(C128, 21, 16, "complex<f64>", "C128")

typedef enum ingot_dtype {
#define INGOT_DTYPE_CODE(NAME, code, bytes, stablehlo, safetensors) INGOT_##NAME = code,
  INGOT_DTYPES(INGOT_DTYPE_CODE)
#undef INGOT_DTYPE_CODE
} ingot_dtype;

/* The columns as functions, of any number: 0 and "?" for a code that is no type. */
static inline uint64_t ingot_dtype_bytes(uint32_t dtype) {
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

static inline const char* ingot_dtype_name(uint32_t dtype) {
  switch (dtype) {
#define INGOT_DTYPE_NAME(NAME, code, bytes, stablehlo, safetensors) \
  case code:                                                        \
    return stablehlo;
    INGOT_DTYPES(INGOT_DTYPE_NAME)
#undef INGOT_DTYPE_NAME
    default:
      return "?";
  }
}

static inline const char* ingot_dtype_safetensors(uint32_t dtype) {
  switch (dtype) {
#define INGOT_DTYPE_SAFETENSORS(NAME, code, bytes, stablehlo, safetensors) \
  case code:                                                               \
    return safetensors;
    INGOT_DTYPES(INGOT_DTYPE_SAFETENSORS)
#undef INGOT_DTYPE_SAFETENSORS
    default:
      return "?";
  }
}

#endif /* INGOT_SCHEMA_DTYPE_H_ */
