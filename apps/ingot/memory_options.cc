#include "apps/ingot/memory_options.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "aot/base/error.h"
#include "apps/ingot/byte_count.h"

namespace ingot {

std::vector<MemoryLimit> memory_limits(const std::vector<std::string>& texts) {
  std::vector<MemoryLimit> limits;
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    const std::string entry = equals == text.npos ? "" : text.substr(0, equals);
    const std::string size = text.substr(equals + 1);
    const std::optional<int64_t> bytes = size == kLeast ? kLeastBytes : byte_count(size);
    if (!bytes) {
      throw_error(
          nullptr,
          fmt::format("--memory-limit {}: is not [ENTRY=]BYTES, as 65536, 512KiB, 1.5MiB or 2GB, or {}", text, kLeast));
    }
    limits.push_back({entry, *bytes});
  }
  return limits;
}

std::vector<MicroBatches> micro_batches(const std::vector<std::string>& texts) {
  std::vector<MicroBatches> rows;
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    const std::string number = text.substr(equals + 1);
    int64_t count = kAutoMicroBatches;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), count);
    const bool is_number = error == std::errc() && end == number.data() + number.size() && count > 0;
    if (!is_number && number != kAuto)
      throw_error(nullptr, fmt::format("--micro-batches {}: is not [ENTRY=]NUMBER, as 4, or {}", text, kAuto));
    rows.push_back({equals == text.npos ? "" : text.substr(0, equals), is_number ? count : kAutoMicroBatches});
  }
  return rows;
}

}  // namespace ingot
