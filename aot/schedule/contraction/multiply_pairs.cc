#include "aot/schedule/contraction/multiply_pairs.h"

#include <algorithm>

#include "aot/analysis/walk.h"
#include "aot/analysis/word_depth.h"
#include "aot/graph/attributes.h"
#include "aot/graph/builder.h"
#include "aot/ops/ops.h"
#include "aot/ops/support/contraction.h"

namespace ingot::schedule {
namespace {

bool multiplies_bf16(const Op& op) {
  if (!op.def->contraction || op.results.size() != 1 || op.result()->type.elements() == 0) return false;
  const auto is_bf16 = [&](int i) { return op.operand(i)->type.dtype == DType::kBF16; };
  return is_bf16(0) && is_bf16(1) && pair_depth(op);
}

// Of the result: those along the depth, which is another, are left out.
std::vector<int64_t> kept_triangles(const Op& op) {
  std::vector<int64_t> kept;
  for (const auto& [ahead, behind, offset] : ops::triangles(op)) {
    if (std::max(ahead, behind) < op.result()->type.rank()) kept.insert(kept.end(), {ahead, behind, offset});
  }
  return kept;
}

void multiply_in_pairs(GraphBuilder& b, Op& op) {
  const WordDepth depth = *pair_depth(op);
  b.before(op);
  b.location = op.location;
  Values operands = op.operands;
  operands[0] = b.make(kPackWords, {op.operand(0)}, {{"dimension", IntAttr{depth.lhs}}});
  operands[1] = b.make(kPackWords, {op.operand(1)}, {{"dimension", IntAttr{depth.rhs}}});
  AttrMap attrs = op.attr_map;
  attrs[attributes::kPairs] = UnitAttr{};
  attrs.erase(attributes::kTriangles);
  if (const std::vector<int64_t> kept = kept_triangles(op); !kept.empty()) {
    attrs.insert_or_assign(attributes::kTriangles, Attr(kept));
  } else {
    operands.resize(2);  // without where triangles start
  }
  replace_op(&op, {b.make(*op.def, operands, attrs, {op.result()->type})});
}

}  // namespace

std::unique_ptr<Block> in_pairs(const Op& kernel, const loops::Target& target) {
  const auto is_meant = [](const auto& op) { return multiplies_bf16(*op); };
  if (target.pair_products == loops::PairProducts::kNone || std::ranges::none_of(kernel.region().ops, is_meant))
    return nullptr;
  auto block = std::make_unique<Block>();
  ValueMap map;
  for (const Value* operand : kernel.operands)
    if (!map.contains(operand)) map[operand] = block->add_argument(operand->type, operand->name);
  Op* const copy = copy_op(kernel, *block, map);
  std::vector<Op*> products;
  for (const auto& op : copy->region().ops) {
    if (multiplies_bf16(*op)) products.push_back(op.get());
  }
  GraphBuilder b;
  for (Op* op : products) multiply_in_pairs(b, *op);
  return block;
}

}  // namespace ingot::schedule
