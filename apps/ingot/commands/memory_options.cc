#include "apps/ingot/commands/memory_options.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "aot/base/error.h"
#include "apps/ingot/terminal/byte_count.h"

namespace ingot {
namespace {

struct OfEntry {
  std::string entry, value;  // entry: "" for all
};

// [ENTRY=]VALUE
OfEntry of_entry(const std::string& text) {
  const size_t equals = text.rfind('=');
  return {equals == text.npos ? "" : text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

std::vector<MemoryLimit> memory_limits(const std::vector<std::string>& texts) {
  std::vector<MemoryLimit> limits;
  for (const std::string& text : texts) {
    const auto [entry, size] = of_entry(text);
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
    const auto [entry, number] = of_entry(text);
    int64_t count = kAutoMicroBatches;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), count);
    const bool is_number = error == std::errc() && end == number.data() + number.size() && count > 0;
    if (!is_number && number != kAuto)
      throw_error(nullptr, fmt::format("--micro-batches {}: is not [ENTRY=]NUMBER, as 4, or {}", text, kAuto));
    rows.push_back({entry, is_number ? count : kAutoMicroBatches});
  }
  return rows;
}

}  // namespace ingot
