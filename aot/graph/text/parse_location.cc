// Locations: loc(unknown), loc("f.py":3:1), loc("f.py":78:38 to :53), loc("name"(child)), loc(callsite(a at b)),
// loc(fused<metadata>[a, b]), loc(#alias).
#include "aot/graph/text/text_reader.h"

namespace ingot {
namespace {

constexpr int kDeepestLocation = 1000;
constexpr int64_t kMostLocationNodes = 100000;

int line_number(TextReader& reader) {
  const int64_t value = reader.expect_integer("a line or column number");
  if (value < 0 || value > INT32_MAX) reader.fail("a line or column number does not fit 31 bits");
  return static_cast<int>(value);
}

SizedLocation parse_inner(TextReader& reader);

void add_child(TextReader& reader, SizedLocation& sized, LocationNode& node, const SizedLocation& child) {
  sized.depth = std::max(sized.depth, child.depth + 1);
  sized.nodes += child.nodes;
  if (sized.depth > kDeepestLocation) throw_limit(reader.location(), "a location is nested deeper than 1000 levels");
  if (sized.nodes > kMostLocationNodes) throw_limit(reader.location(), "a location has more than 100000 parts");
  node.children.push_back(child.location);
}

SizedLocation parse_inner(TextReader& reader) {
  const TextReader::Nesting nesting(reader);
  if (reader.at(TokenKind::kHash)) return reader.location_alias();
  if (reader.accept_word("unknown") || reader.accept('?')) return {};
  if (reader.at_word("loc")) return parse_location(reader);

  auto node = std::make_shared<LocationNode>();
  SizedLocation sized{nullptr, 1, 1};
  if (reader.accept_word("callsite")) {
    node->kind = LocationNode::Kind::kCallSite;
    reader.expect('(');
    add_child(reader, sized, *node, parse_inner(reader));
    reader.expect_word("at");
    add_child(reader, sized, *node, parse_inner(reader));
    reader.expect(')');
  } else if (reader.accept_word("fused")) {
    node->kind = LocationNode::Kind::kFused;
    if (reader.at('<')) {
      const size_t start = reader.offset();
      reader.skip_group();
      const std::string_view group = reader.text_since(start);
      node->text = group.substr(1, group.size() - 2);
    }
    reader.expect('[');
    while (!reader.at(']')) {
      add_child(reader, sized, *node, parse_inner(reader));
      if (!reader.accept(',')) break;
    }
    reader.expect(']');
  } else {
    node->text = reader.expect_string("a location: unknown, \"file\":line:column, \"name\", callsite, fused or #alias");
    if (reader.accept(':')) {
      node->kind = LocationNode::Kind::kFile;
      node->line = line_number(reader);
      reader.expect(':');
      node->column = line_number(reader);
      if (reader.accept_word("to")) {
        node->end_line = reader.at(':') ? node->line : line_number(reader);
        reader.expect(':');
        node->end_column = line_number(reader);
      }
    } else {
      node->kind = LocationNode::Kind::kName;
      if (reader.accept('(')) {
        add_child(reader, sized, *node, parse_inner(reader));
        reader.expect(')');
      }
    }
  }
  sized.location = std::move(node);
  return sized;
}

}  // namespace

SizedLocation parse_location(TextReader& reader) {
  reader.expect_word("loc");
  reader.expect('(');
  SizedLocation sized = parse_inner(reader);
  reader.expect(')');
  return sized;
}

Location parse_optional_location(TextReader& reader, Location otherwise) {
  return reader.at_word("loc") ? parse_location(reader).location : std::move(otherwise);
}

}  // namespace ingot
