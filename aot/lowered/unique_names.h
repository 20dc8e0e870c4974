// Names that differ, for things that may be called alike.
#pragma once

#include <map>
#include <string>

namespace ingot::lowered {

class UniqueNames {
 public:
  // `name`, or where that is taken `name` and a number; "v" for what has none.
  std::string add(const std::string& name) {
    const std::string wanted = name.empty() ? "v" : name;
    std::string made = wanted;
    while (!taken_.emplace(made, 0).second) made = wanted + "." + std::to_string(++taken_[wanted]);
    return made;
  }

 private:
  std::map<std::string, int> taken_;  // and how many after the first wanted each
};

}  // namespace ingot::lowered
