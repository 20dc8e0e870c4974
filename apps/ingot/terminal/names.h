// Finding things by name, and what to say where a name fits nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ingot {

template <typename Named>
std::vector<std::string> names_of(const std::vector<Named>& all) {
  std::vector<std::string> names;
  for (const Named& one : all) names.emplace_back(one.name);
  return names;
}

// "; did you mean 'x'?", or "; there are: x, y, z" where nothing is near, or "" where there is nothing. Names that are
// taken stand for something else.
std::string suggestion(const std::vector<std::string>& names, const std::string& name,
                       const std::vector<std::string>& taken = {});

// The position of an entry point; "" is the only one, or else "train_step" or "main".
// Throws an Error with a suggestion.
uint32_t pick_entry(const std::vector<std::string>& entries, const std::string& name);

}  // namespace ingot
