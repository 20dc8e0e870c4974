// Adds ops to a block.
#pragma once

#include "aot/graph/op.h"

namespace ingot {

// Inserts before a given op, or at the end of a block. Types are inferred and checked as each op is made; a mistake is
// an Error at the current location.
class GraphBuilder {
 public:
  void at_end(Block& block) {
    block_ = &block;
    before_ = nullptr;
  }
  void before(Op& op) {
    block_ = op.block;
    before_ = &op;
  }
  Block* block() const { return block_; }

  Location location;  // given to the ops made from now on

  // `declared` are the result types, for ops whose results do not follow from operands and attributes.
  Op* create(const OpDef& def, Values operands, AttrMap attrs = {}, std::vector<TensorType> declared = {},
             std::vector<std::unique_ptr<Block>> regions = {});
  // The only result of such an op.
  Value* make(const OpDef& def, Values operands, AttrMap attrs = {}, std::vector<TensorType> declared = {});

 private:
  Block* block_ = nullptr;
  Op* before_ = nullptr;
};

// Puts a made op at the builder-independent place: before `before`, or at the end of `block` when it is null.
Op* insert(std::unique_ptr<Op> op, Block& block, Op* before = nullptr);

}  // namespace ingot
