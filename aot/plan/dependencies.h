// Which node of a block must run before which.
#pragma once

#include <map>
#include <vector>

#include "aot/plan/make_plan.h"

namespace ingot::plan {

// ingot.kernel, or control flow whose regions hold such ops.
bool is_node(const Op& op);

// The nodes of a block, in program order, and the edges between them: a reader after the writer, and what `add` adds.
class Dependencies {
 public:
  explicit Dependencies(const Block& block);

  const std::vector<Op*>& nodes() const { return nodes_; }
  int index_of(const Op* op) const { return index_.at(op); }
  const std::vector<int>& after(int node) const { return after_[node]; }  // what must run before it
  const Values& reads(int node) const { return reads_[node]; }  // each once; what the regions of control flow read too

  bool depends(int node, int on) const;  // through any number of edges
  void add(int before, int node);

  // The nodes that read a value, each once.
  std::vector<int> readers(const Value* value) const;

 private:
  std::vector<Op*> nodes_;
  std::vector<Values> reads_;
  std::map<const Op*, int> index_;
  std::map<const Value*, std::vector<int>> readers_;
  std::vector<std::vector<int>> after_;
};

// The operand in whose place a result is made: of a kernel that updates it, of a loop that carries it; null of others.
Value* predecessor(const Value* result, const LoweringOf& lowering);

// The first of the values of its block that `value` is made in the place of, one after the other: itself, often.
const Value* first_in_place(const Value* value, const LoweringOf& lowering);

// A node that writes in the place of an operand runs after all that read the operand.
void add_takeovers(Dependencies& dependencies, const LoweringOf& lowering);

// Whether every kernel of `op`'s lowering that writes result `result` either does not read operand value `old` or may
// write in its place, and none reads it afterwards.
bool may_replace(const Op& op, int result, const Value* old, const Lowering& lowering);

}  // namespace ingot::plan
