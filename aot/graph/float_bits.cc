#include "aot/graph/float_bits.h"

#include <array>
#include <cstring>

namespace ingot {

double float_from_bits(DType dtype, uint64_t bits) {
  std::array<std::byte, 8> bytes;
  std::memcpy(bytes.data(), &bits, sizeof bits);
  return load_float(dtype, bytes.data());
}

uint64_t float_bits(DType dtype, double value) {
  std::array<std::byte, 8> bytes{};
  store_float(dtype, value, bytes.data());
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), sizeof bits);
  return bits;
}

std::optional<int64_t> checked_integer(DType dtype, uint64_t value, bool negative) {
  const int bits = info(dtype).bits;
  if (negative) {
    const bool fits = is_unsigned(dtype) ? value == 0 : value <= uint64_t{1} << (bits - 1);
    return fits ? std::optional(wrap_to(dtype, static_cast<int64_t>(0 - value))) : std::nullopt;
  }
  return fits_bits(value, bits) ? std::optional(wrap_to(dtype, static_cast<int64_t>(value))) : std::nullopt;
}

}  // namespace ingot
