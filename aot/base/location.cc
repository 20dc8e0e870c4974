#include "aot/base/location.h"

#include <fmt/format.h>

namespace ingot {

Location file_location(std::string file, int line, int column) {
  auto node = std::make_shared<LocationNode>();
  node->kind = LocationNode::Kind::kFile;
  node->text = std::move(file);
  node->line = line;
  node->column = column;
  return node;
}

Location named_location(std::string name, Location child) {
  auto node = std::make_shared<LocationNode>();
  node->kind = LocationNode::Kind::kName;
  node->text = std::move(name);
  if (child) node->children.push_back(std::move(child));
  return node;
}

namespace {

const LocationNode* first_of_kind(const Location& location, LocationNode::Kind kind) {
  if (!location) return nullptr;
  if (location->kind == kind) return location.get();
  for (const Location& child : location->children) {
    if (const LocationNode* found = first_of_kind(child, kind)) return found;
  }
  return nullptr;
}

}  // namespace

std::string describe(const Location& location) {
  if (const LocationNode* file = first_of_kind(location, LocationNode::Kind::kFile)) {
    return fmt::format("{}:{}:{}", file->text, file->line, file->column);
  }
  if (const LocationNode* name = first_of_kind(location, LocationNode::Kind::kName)) return name->text;
  return "";
}

}  // namespace ingot
