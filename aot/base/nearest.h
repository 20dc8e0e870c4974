// Suggestions for misspelt names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// Edit distance: insertions, deletions and changes of one character, and swaps of two that are neighbours.
int edit_distance(std::string_view a, std::string_view b);

// The names within `most_edits` of `name`, nearest first; of those as near, the ones of its own length.
std::vector<std::string> nearest_names(const std::vector<std::string>& names, std::string_view name, int most_edits);

}  // namespace ingot
