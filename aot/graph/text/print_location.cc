#include <fmt/format.h>

#include "aot/base/lexer.h"
#include "aot/graph/text/print_attr.h"

namespace ingot {
namespace {

// The inside of loc(...), with each child written by `child`.
template <typename Child>
std::string body(const LocationNode& node, Child child) {
  switch (node.kind) {
    case LocationNode::Kind::kUnknown:
      return "unknown";
    case LocationNode::Kind::kFile: {
      std::string text = fmt::format("{}:{}:{}", quoted(node.text), node.line, node.column);
      if (node.end_line == 0) return text;
      if (node.end_line == node.line) return fmt::format("{} to :{}", text, node.end_column);
      return fmt::format("{} to {}:{}", text, node.end_line, node.end_column);
    }
    case LocationNode::Kind::kName:
      return quoted(node.text) + (node.children.empty() ? "" : "(" + child(node.children[0]) + ")");
    case LocationNode::Kind::kCallSite:
      return "callsite(" + child(node.children[0]) + " at " + child(node.children[1]) + ")";
    case LocationNode::Kind::kFused: {
      std::string text = "fused" + (node.text.empty() ? "" : "<" + node.text + ">") + "[";
      for (size_t i = 0; i < node.children.size(); ++i) text += (i ? ", " : "") + child(node.children[i]);
      return text + "]";
    }
  }
  return "unknown";
}

std::string inline_body(const Location& location, int levels) {
  if (!location || levels == 0) return "unknown";
  return body(*location, [&](const Location& child) { return inline_body(child, levels - 1); });
}

}  // namespace

std::string LocationPrinter::inner(const Location& location) {
  if (!location) return "unknown";
  const auto known = known_.find(location.get());
  if (known != known_.end()) return fmt::format("#loc{}", known->second);
  std::string text = body(*location, [&](const Location& child) { return inner(child); });
  const auto [found, is_new] = aliases_.try_emplace(text, static_cast<int>(bodies_.size()));
  if (is_new) bodies_.push_back(std::move(text));
  known_[location.get()] = found->second;
  return fmt::format("#loc{}", found->second);
}

void LocationPrinter::print(std::string& out, const Location& location) { out += "loc(" + inner(location) + ")"; }

void LocationPrinter::print_definitions(std::string& out) const {
  for (size_t i = 0; i < bodies_.size(); ++i) out += fmt::format("#loc{} = loc({})\n", i, bodies_[i]);
}

void print_location(std::string& out, const Location& location) {
  constexpr int kMostLevels = 8;
  out += "loc(" + inline_body(location, kMostLevels) + ")";
}

}  // namespace ingot
