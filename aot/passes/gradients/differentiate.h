// What `gradients` is made of: which values are active, and the vector-Jacobian products of one block's ops.
#pragma once

#include <set>

#include "aot/graph/builder.h"

namespace ingot {

using ValueSet = std::set<const Value*>;

// Float values of a block that depend on `from` through differentiable ops, and `from` itself.
// Nothing flows through `constants`.
ValueSet active_values(const ValueSet& from, const Block& block, const ValueSet& constants);

class Differentiator {
 public:
  // Makes ops with `b` where it stands.
  Differentiator(GraphBuilder& b, ValueSet active, const ValueSet& constants)
      : b_(b), active_(std::move(active)), constants_(constants) {}

  // The gradient of a value so far; null while nothing flows back to it.
  Value* find(const Value* value) const;
  void accumulate(const Value* value, Value* gradient);

  // Sends the gradients of an op's results on to what it reads. Ops are visited from the last to the first.
  void visit(Op& op);

 private:
  void visit_element(const Op& op, const Values& result_gradients);
  // An op without a gradient of its own may be made of others that have one.
  bool visit_expansion(const Op& op, const Values& result_gradients);
  void visit_branches(const Op& op, const Values& result_gradients);
  void visit_loop(Op& loop, const Values& result_gradients);

  Values active_captures(const Op& op) const;

  GraphBuilder& b_;
  ValueSet active_;
  const ValueSet& constants_;
  std::map<const Value*, Value*> gradients_;
};

}  // namespace ingot
