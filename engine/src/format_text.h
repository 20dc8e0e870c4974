// Texts of numbers and other texts, as printf makes them, without a locale and what else a C library's printf brings along.
#pragma once

#include <cstdarg>
#include <cstdint>

namespace ingot::engine {

// Puts a text together in `out`, as far as there is room. There is a zero at its end from the start.
class Text {
 public:
  // out_bytes: at least 1.
  Text(char* out, uint64_t out_bytes) : at_(out), left_bytes_(out_bytes - 1) { *out = 0; }

  void put(char c);
  // The first bytes_max of a text, or all that stands before its zero.
  void put_text(const char* text, uint64_t bytes_max = UINT64_MAX);
  void put_number(uint64_t value);

  // As printf would. It knows %s and %.*s with any precision, %u, %d, %ju (of uint64_t) and %%.
  [[gnu::format(printf, 2, 0)]] void put_formatted(const char* format, va_list arguments);

  uint64_t left_bytes() const { return left_bytes_; }

 private:
  char* at_;
  uint64_t left_bytes_;
};

}  // namespace ingot::engine
