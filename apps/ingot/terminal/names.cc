#include "apps/ingot/terminal/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/base/error.h"
#include "aot/base/join.h"
#include "aot/base/nearest.h"

namespace ingot {

std::string suggestion(const std::vector<std::string>& names, const std::string& name,
                       const std::vector<std::string>& taken) {
  const int most_edits = std::max<int>(2, static_cast<int>(name.size()) / 3);
  std::vector<std::string> near = nearest_names(names, name, most_edits);
  std::erase_if(near, [&](const std::string& other) { return std::ranges::count(taken, other) > 0; });
  if (!near.empty()) return fmt::format("; did you mean '{}'?", near.front());
  constexpr size_t kMost = 12;
  if (names.empty()) return "";
  return fmt::format("; there are: {}{}", join(std::span(names).first(std::min(names.size(), kMost)), ", "),
                     names.size() > kMost ? ", ..." : "");
}

uint32_t pick_entry(const std::vector<std::string>& entries, const std::string& name) {
  if (name.empty() && entries.size() == 1) return 0;
  const std::vector<std::string> wanted =
      name.empty() ? std::vector<std::string>{"train_step", "main"} : std::vector{name};
  for (const std::string& candidate : wanted) {
    const auto found = std::find(entries.begin(), entries.end(), candidate);
    if (found != entries.end()) return static_cast<uint32_t>(found - entries.begin());
  }
  if (name.empty()) throw_error(nullptr, fmt::format("which entry point? There are: {}", join(entries, ", ")));
  throw_error(nullptr, fmt::format("there is no entry point '{}'{}", name, suggestion(entries, name)));
}

}  // namespace ingot
