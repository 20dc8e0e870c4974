#include "apps/ingot/terminal/report.h"

#include <fmt/format.h>

namespace ingot {

Json report(const std::string& command) { return {{"report", command}, {"version", kReportVersion}}; }

void print(const Json& report) {
  // Names are UTF-8, paths may be anything.
  fmt::print("{}\n", report.dump(2, ' ', false, Json::error_handler_t::replace));
}

std::string size_text(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  constexpr uint64_t kBytesMax = 10 * 1024;
  if (bytes < kBytesMax) return fmt::format("{} bytes", bytes);
  double size = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (size >= 1024 && unit + 1 < std::size(kUnits)) size /= 1024, ++unit;
  return fmt::format("{:.1f} {}", size, kUnits[unit]);
}

}  // namespace ingot
