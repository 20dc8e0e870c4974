#include "aot/base/nearest.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace ingot {

int edit_distance(std::string_view a, std::string_view b) {
  // Of the first i characters of a, and of those without the last one and the last two.
  std::vector<int> row(b.size() + 1), above, two_above;
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    two_above = std::exchange(above, row);
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::vector<std::string> nearest_names(const std::vector<std::string>& names, std::string_view name, int most_edits) {
  constexpr size_t kLongest = 200;
  std::vector<std::tuple<int, size_t, size_t>> ranked;  // distance, difference in length, index
  for (size_t i = 0; i < names.size(); ++i) {
    if (name.size() > kLongest || names[i].size() > kLongest) continue;
    const int distance = edit_distance(names[i], name);
    const size_t longer = std::max(names[i].size(), name.size()) - std::min(names[i].size(), name.size());
    if (distance <= most_edits) ranked.emplace_back(distance, longer, i);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> nearest;
  for (const auto& [distance, longer, index] : ranked) nearest.push_back(names[index]);
  return nearest;
}

}  // namespace ingot
