// A chain: kernels that make scores, and those that make or read tensors of their size for them.
//
// Scores are a product for each batch and head, larger than both its operands.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "aot/graph/op.h"

namespace ingot {

// Of a chain that is made block by block.
inline constexpr int64_t kBlockScoresMax = 16 << 20;  // bytes
inline constexpr int64_t kBlocksMin = 8;              // which threads share

// The contraction in a kernel's region; null where there is none.
const Op* contraction_in(const Op& kernel);

// Places of the batch.
int64_t batch_count(const Op& contraction);

// Elements of the scores that a kernel makes; 0 where it makes none.
int64_t score_elements(const Op& kernel);

// What may stand in a chain: products of a batch, rows and whatever is elementwise.
bool may_join_chain(const Op& op);

class KernelChain {
 public:
  // All that joins a kernel that makes scores.
  KernelChain(Block& block, Op& scores);

  Block& block() const { return block_; }
  bool contains(const Op* op) const { return members_.contains(const_cast<Op*>(op)); }
  std::vector<Op*> members() const;  // in the block's order
  bool is_chain() const { return members_.size() > 1; }

  // Large values that others read, too.
  Values large_outputs() const;

  // Members that make these values and what those read of the chain.
  std::set<const Op*> makers_of(const Values& values) const;

  // Gives what members reduce as results of theirs.
  std::map<const Op*, Values> give_statistics();

  // The members as one kernel, which stands where the last of them does; they are still there.
  Op* merge();

  // Puts the kernel in the members' place.
  void replace_by(Op& kernel);

 private:
  bool is_large(const Value& value) const { return value.type.elements() >= large_; }
  bool is_read_outside(const Value& value) const;
  bool grow();
  bool is_linked(const Op& op) const;
  bool needs_nothing_of_itself() const;
  void add_makers(const Op& op, std::set<const Op*>& makers) const;
  bool is_finished_by_reader(const Op& member) const;
  void copy_member(const Op& member, int stage, Block& body, std::map<const Value*, Value*>& inner,
                   Values& operands) const;
  std::string name() const;
  void move_readers_behind(Op& kernel);

  Block& block_;
  int64_t large_;  // elements
  std::set<Op*> members_;
  std::vector<Op*> ordered_;
  Values outputs_;
};

}  // namespace ingot
