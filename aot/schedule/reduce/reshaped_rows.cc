#include "aot/schedule/reduce/reshaped_rows.h"

#include <algorithm>

#include "aot/graph/access_map.h"

namespace ingot::schedule {
namespace {

bool reduces(const Block& body, const Shape& shape) {
  return std::ranges::any_of(body.ops, [&](const auto& op) {
    return op->def->root == KernelRoot::kReduce && op->operand(0)->type.shape == shape;
  });
}

bool is_reshaped(const Block& body, const Value* result) {
  const Op* op = result->op;
  return op && access_map(*op).is_flat && op->operand(0)->op && !reduces(body, result->type.shape) &&
         reduces(body, op->operand(0)->type.shape);
}

}  // namespace

std::unique_ptr<Block> without_reshapes_of_rows(const Op& kernel) {
  const auto is_meant = [](const Block& body) {
    return [&](const Value* result) { return is_reshaped(body, result); };
  };
  if (std::ranges::none_of(kernel.region().terminator()->operands, is_meant(kernel.region()))) return nullptr;
  auto block = std::make_unique<Block>();
  ValueMap map;
  for (const Value* operand : kernel.operands)
    if (!map.contains(operand)) map[operand] = block->add_argument(operand->type, operand->name);
  const Block& body = copy_op(kernel, *block, map)->region();
  Op* yield = body.terminator();
  for (int i = 0; i < static_cast<int>(yield->operands.size()); ++i) {
    if (is_reshaped(body, yield->operand(i))) yield->set_operand(i, yield->operand(i)->op->operand(0));
  }
  return block;
}

}  // namespace ingot::schedule
