#include "aot/frontend/onnx/attribute_table.h"

#include <map>
#include <tuple>

namespace ingot::onnx {
namespace {

using enum AttributeKind;

constexpr AttributeRow kAttributes[] = {
#define ONNX_ATTRIBUTE(domain, op, name, kind, first, last) {domain, #op, #name, kind, first, last, false},
#define ONNX_HINT(domain, op, name, kind, first, last) {domain, #op, #name, kind, first, last, true},
#include "aot/frontend/onnx/attributes.def"
#undef ONNX_ATTRIBUTE
#undef ONNX_HINT
};

// By AttributeProto.AttributeType.
constexpr std::string_view kKindNames[] = {"of no type",
                                           "a float",
                                           "an integer",
                                           "a string",
                                           "a tensor",
                                           "a graph",
                                           "a list of floats",
                                           "a list of integers",
                                           "a list of strings",
                                           "a list of tensors",
                                           "a list of graphs",
                                           "a sparse tensor",
                                           "a list of sparse tensors",
                                           "a type",
                                           "a list of types"};

}  // namespace

std::span<const AttributeRow> attribute_table() { return kAttributes; }

const AttributeRow* find_attribute(std::string_view domain, std::string_view op, std::string_view name,
                                   int64_t version) {
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
  static const auto* const rows = [] {
    auto* map = new std::multimap<Key, const AttributeRow*>;
    for (const AttributeRow& row : kAttributes) map->emplace(Key(row.domain, row.op, row.name), &row);
    return map;
  }();
  const auto [begin, end] = rows->equal_range({domain, op, name});
  for (auto at = begin; at != end; ++at) {
    if (version >= at->second->first && version <= at->second->last) return at->second;
  }
  return nullptr;
}

std::string_view kind_name(int64_t kind) {
  return kind >= 0 && kind < std::ssize(kKindNames) ? kKindNames[kind] : "of an unknown type";
}

}  // namespace ingot::onnx
