#include <unordered_map>

#include "aot/passes/pass.h"
#include "aot/passes/same.h"
#include "aot/passes/walk.h"

namespace ingot {

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
      while (found != end && !same(*found->second, *op)) ++found;
      if (found == end) {
        seen.emplace(hash, op);
        continue;
      }
      Values first;
      for (auto& result : found->second->results) first.push_back(result.get());
      replace_op(op, first);
      changed = true;
    }
  });
  return changed;
}

}  // namespace ingot
