// A block computed again at another place, and its gradient behind it.
#pragma once

#include "aot/passes/gradients/differentiate.h"

namespace ingot {

class BlockGradient {
 public:
  // Copies the ops of `block` to where `b` stands, at the end of a block. `map` gives what stands for its arguments;
  // `from` are the values, among those and outside ones, whose gradients are wanted.
  BlockGradient(GraphBuilder& b, const Block& block, ValueMap map, const ValueSet& from, const ValueSet& constants);

  // The gradient of what the block returns at `i`.
  void seed(int i, Value* gradient);
  void run();
  Value* find(const Value* value) const { return differentiator_->find(value); }

  // The copy of a value of the block; an outside value itself.
  Value* copy_of(Value* value) const;

 private:
  const Block& block_;
  ValueMap map_;
  ValueSet constants_, active_;
  std::vector<Op*> ops_;
  std::unique_ptr<Differentiator> differentiator_;
};

}  // namespace ingot
