#include "aot/passes/same.h"

#include <functional>
#include <string_view>

namespace ingot {
namespace {

using Pairs = std::map<const Value*, const Value*>;  // values of one region and what they are in the other

bool same_op(const Op& a, const Op& b, Pairs& pairs);

bool same_block(const Block& a, const Block& b, Pairs& pairs) {
  if (a.arguments.size() != b.arguments.size() || a.ops.size() != b.ops.size()) return false;
  for (size_t i = 0; i < a.arguments.size(); ++i) {
    if (a.arguments[i]->type != b.arguments[i]->type) return false;
    pairs[a.arguments[i].get()] = b.arguments[i].get();
  }
  for (auto x = a.ops.begin(), y = b.ops.begin(); x != a.ops.end(); ++x, ++y) {
    if (!same_op(**x, **y, pairs)) return false;
  }
  return true;
}

bool same_op(const Op& a, const Op& b, Pairs& pairs) {
  if (a.def != b.def || a.operands.size() != b.operands.size() || a.results.size() != b.results.size() ||
      a.regions.size() != b.regions.size()) {
    return false;
  }
  for (size_t i = 0; i < a.operands.size(); ++i) {
    const auto inner = pairs.find(a.operands[i]);
    if ((inner == pairs.end() ? a.operands[i] : inner->second) != b.operands[i]) return false;
  }
  for (size_t i = 0; i < a.results.size(); ++i) {
    if (a.results[i]->type != b.results[i]->type) return false;
  }
  if (a.attr_map != b.attr_map) return false;
  for (size_t i = 0; i < a.regions.size(); ++i) {
    if (!same_block(*a.regions[i], *b.regions[i], pairs)) return false;
  }
  for (size_t i = 0; i < a.results.size(); ++i) pairs[a.results[i].get()] = b.results[i].get();
  return true;
}

void mix(size_t& hash, size_t more) { hash ^= more + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2); }

void mix_attr(size_t& hash, const Attr& attr) {
  mix(hash, attr.value.index());
  if (const auto* ints = attr.as<IntsAttr>()) {
    for (int64_t value : ints->values) mix(hash, static_cast<size_t>(value));
  } else if (const auto* integer = attr.as<IntAttr>()) {
    mix(hash, static_cast<size_t>(integer->value));
  } else if (const auto* word = attr.as<EnumAttr>()) {
    mix(hash, std::hash<std::string>()(word->value));
  } else if (const auto* literal = attr.as<LiteralRef>()) {
    const auto& data = (*literal)->data;
    const size_t sample_bytes = std::min<size_t>(data.size(), 256);
    mix(hash, std::hash<std::string_view>()({reinterpret_cast<const char*>(data.data()), sample_bytes}));
  }
}

}  // namespace

bool same(const Op& a, const Op& b) {
  Pairs pairs;
  return same_op(a, b, pairs);
}

size_t hash_of(const Op& op) {
  size_t hash = std::hash<const void*>()(op.def);
  for (const Value* operand : op.operands) mix(hash, std::hash<const void*>()(operand));
  for (const auto& result : op.results) {
    mix(hash, static_cast<size_t>(result->type.dtype));
    for (int64_t extent : result->type.shape) mix(hash, static_cast<size_t>(extent));
  }
  for (const auto& [name, attr] : op.attr_map) mix_attr(hash, attr);
  return hash;
}

}  // namespace ingot
