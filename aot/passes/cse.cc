#include <functional>
#include <string_view>
#include <unordered_map>

#include "aot/analysis/walk.h"
#include "aot/graph/equal.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

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

// The same for equal ops.
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

}  // namespace

bool cse(Module& module, PassContext&) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    std::unordered_multimap<size_t, Op*> seen;
    for (auto at = block.ops.begin(); at != block.ops.end();) {
      Op* op = (at++)->get();
      if (op->def->is_terminator || op->def->has_side_effect) continue;
      const size_t hash = hash_of(*op);
      const auto [begin, end] = seen.equal_range(hash);
      auto found = begin;
      while (found != end && !equal(*found->second, *op)) ++found;
      if (found == end) {
        seen.emplace(hash, op);
        continue;
      }
      replace_op(op, results_of(*found->second));
      changed = true;
    }
  });
  return changed;
}

}  // namespace ingot
