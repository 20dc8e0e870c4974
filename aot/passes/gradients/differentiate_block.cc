#include "aot/passes/gradients/differentiate_block.h"

namespace ingot {

BlockGradient::BlockGradient(GraphBuilder& b, const Block& block, ValueMap map, const ValueSet& from,
                             const ValueSet& constants)
    : block_(block), map_(std::move(map)), constants_(constants) {
  copy_ops(block, *b.block(), map_, /*with_terminator=*/false);
  for (const auto& op : b.block()->ops) ops_.push_back(op.get());
  for (const auto& [old, copy] : map_) {
    if (constants.contains(old)) constants_.insert(copy);
  }
  active_ = active_values(from, *b.block(), constants_);
  differentiator_ = std::make_unique<Differentiator>(b, active_, constants_);
}

Value* BlockGradient::copy_of(Value* value) const {
  const auto found = map_.find(value);
  return found == map_.end() ? value : found->second;
}

void BlockGradient::seed(int i, Value* gradient) {
  const Value* result = copy_of(block_.terminator()->operand(i));
  if (active_.contains(result)) differentiator_->accumulate(result, gradient);
}

void BlockGradient::run() {
  for (auto op = ops_.rbegin(); op != ops_.rend(); ++op) differentiator_->visit(**op);
}

}  // namespace ingot
