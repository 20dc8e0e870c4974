#include "apps/ingot/terminal/byte_count.h"

#include <charconv>
#include <string>

namespace ingot {
namespace {

struct Unit {
  std::string_view name;
  double bytes;
};
constexpr Unit kUnits[] = {
    {"", 1},     {"B", 1},    {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0},
    {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6},     {"GB", 1e9},        {"TB", 1e12},
};

}  // namespace

std::optional<int64_t> byte_count(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc() || number < 0) return std::nullopt;
  for (const Unit& unit : kUnits) {
    if (unit.name != std::string_view(rest, static_cast<size_t>(end - rest))) continue;
    const double bytes = number * unit.bytes;
    constexpr double kEnd = 9223372036854775808.0;
    if (!(bytes < kEnd)) return std::nullopt;
    return static_cast<int64_t>(bytes);
  }
  return std::nullopt;
}

}  // namespace ingot
