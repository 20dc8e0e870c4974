#include "aot/analysis/user_name.h"

namespace ingot {

std::string user_name(const Location& location) {
  if (!location || location->kind == LocationNode::Kind::kName) return location ? location->text : "";
  for (const Location& child : location->children) {
    if (std::string name = user_name(child); !name.empty()) return name;
  }
  return "";
}

}  // namespace ingot
