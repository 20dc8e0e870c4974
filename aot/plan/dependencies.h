// Which kernel of a function must run before which.
#pragma once

#include <map>
#include <vector>

#include "aot/plan/make_plan.h"

namespace ingot::plan {

// The ingot.kernel ops of a function, in program order, and the edges between them: a reader after the writer, and the
// writer of a state's new value after every reader of the old one.
class Dependencies {
 public:
  explicit Dependencies(const Function& function);

  const std::vector<Op*>& kernels() const { return kernels_; }
  int index_of(const Op* op) const { return index_.at(op); }
  const std::vector<int>& after(int kernel) const { return after_[kernel]; }  // what must run before it

  bool depends(int kernel, int on) const;  // through any number of edges
  void add(int before, int kernel);

  // The kernels that read a value, each once.
  std::vector<int> readers(const Value* value) const;

 private:
  std::vector<Op*> kernels_;
  std::map<const Op*, int> index_;
  std::vector<std::vector<int>> after_;
};

// The argument that holds the old value of the state which result `i` of the function replaces, or null.
const Value* old_state(const Function& function, int i);

// Whether every kernel of `op`'s lowering that writes result `result` either does not read operand value `old` or may
// write in its place, and none reads it afterwards.
bool may_replace(const Op& op, int result, const Value* old, const Lowering& lowering);

}  // namespace ingot::plan
