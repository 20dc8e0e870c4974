// Which node of a block must run before which, and what is made in whose place.
#pragma once

#include <map>
#include <vector>

#include "aot/lowered/lowered.h"

namespace ingot::plan {

using lowered::ValueId;

// The nodes of a block by their number, and the edges between them: a reader after the writer, and what is added.
class Dependencies {
 public:
  Dependencies(const lowered::Function& function, const lowered::Block& block);

  int node_count() const { return static_cast<int>(after_.size()); }
  const std::vector<int>& after(int node) const { return after_[node]; }      // what must run before it
  const std::vector<ValueId>& reads(int node) const { return reads_[node]; }  // lowered::read_by
  int maker(ValueId value) const;                        // the node of this block that makes it, or -1
  const std::vector<int>& readers(ValueId value) const;  // nodes, each once

  bool depends(int node, int on) const;  // through any number of edges
  void add(int before, int node);
  // A node that writes in the place of an operand runs after all that read the operand.
  void add_in_place_writes();

  // The value in whose place `value` is made by a node of this block, or kNoValue.
  ValueId predecessor(ValueId value) const;
  // The first of the values of this block that `value` is made in the place of, one after the other: itself, often.
  ValueId in_place_root(ValueId value) const;

 private:
  std::vector<std::vector<ValueId>> reads_;
  std::vector<std::vector<int>> after_;
  std::map<ValueId, int> makers_;
  std::map<ValueId, std::vector<int>> readers_;
  std::map<ValueId, ValueId> predecessors_;
  std::vector<ValueId> arguments_;
};

// Whether every kernel of a node that writes `result` either does not read `old`, a value from outside of the node, or
// may write in its place, and none reads it afterwards.
bool may_replace(const lowered::Function& function, const lowered::Node& node, ValueId result, ValueId old);

}  // namespace ingot::plan
