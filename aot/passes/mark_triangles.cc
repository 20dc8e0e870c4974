// Products that need not be made: those by the zeros of a triangular matrix, and those whose results a mask hides, as
// that of causal attention does.
#include "aot/analysis/triangles.h"
#include "aot/graph/attributes.h"
#include "aot/ops/ops.h"
#include "aot/passes/pass.h"

namespace ingot {
namespace {

bool mark(Op& op, const Triangles& triangles) {
  std::vector<int64_t> values;
  for (const Triangle& it : triangles.unneeded_products(op)) {
    values.insert(values.end(), {it.ahead, it.behind, it.offset});
  }
  if (values.empty()) return false;
  const auto [at, is_new] = op.attr_map.insert_or_assign(attributes::kTriangles, Attr(values));
  return is_new;
}

bool mark_in(Block& block, Triangles& triangles) {
  triangles.read(block);
  bool changed = false;
  for (const auto& op : block.ops) {
    if (op->is(kDotGeneral)) changed |= mark(*op, triangles);
    for (const auto& region : op->regions) changed |= mark_in(*region, triangles);
  }
  return changed;
}

}  // namespace

bool mark_triangles(Module& module, PassContext& context) {
  if (context.math == Math::kExact) return false;
  bool changed = false;
  for (auto& function : module.functions) {
    Triangles triangles;
    changed |= mark_in(function->body, triangles);
  }
  return changed;
}

}  // namespace ingot
