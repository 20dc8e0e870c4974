#include "aot/base/nearest.h"

#include <algorithm>
#include <numeric>

namespace ingot {

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int change = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

std::vector<std::string> nearest_names(const std::vector<std::string>& names, std::string_view name, int most_edits) {
  constexpr size_t kLongest = 200;
  std::vector<std::pair<int, size_t>> ranked;
  for (size_t i = 0; i < names.size(); ++i) {
    if (name.size() > kLongest || names[i].size() > kLongest) continue;
    const int distance = edit_distance(names[i], name);
    if (distance <= most_edits) ranked.emplace_back(distance, i);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> nearest;
  for (const auto& [distance, index] : ranked) nearest.push_back(names[index]);
  return nearest;
}

}  // namespace ingot
