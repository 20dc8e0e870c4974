// A lowering in the making: the steps so far, and where each value of the kernel's region can be read.
#pragma once

#include <map>
#include <set>

#include "aot/base/contains.h"
#include "aot/schedule/lower.h"
#include "aot/schedule/pull.h"

namespace ingot::schedule {

class Draft {
 public:
  Draft(const Op& kernel, const loops::Target& target, const LowerOptions& options);

  const loops::Target& target() const { return *target_; }
  const LowerOptions& options() const { return options_; }
  const Block& body() const { return kernel_->region(); }
  const std::string& name() const { return name_; }

  // The same in every iteration of the loop in which the kernel stands.
  bool is_invariant(Value* value) const;

  // Null while the value is in no buffer: operands are from the start, others once a step has written them.
  const KernelBinding* place(const Value* value) const;
  bool is_made(const Value* value) const { return place(value) != nullptr; }
  // What is in a buffer and has the elements of `value` in their order: itself, or what it is a reshape of. Null where
  // there is none.
  const Value* kept(const Value* value) const;
  bool is_result(const Value* value) const;
  // The results of the kernel op that are `value`.
  std::vector<int> results_of(const Value* value) const;

  // Results that update an operand in place: what the window is made of, which has the shape of the space in which such
  // a result is made. Every other value is its own source.
  bool is_update(const Value* value) const { return windows_.contains(value); }
  Value* source(Value* value) const;
  const Value* source(const Value* value) const;

  // The operand whose place the result `value` takes if it can; null where it is none's.
  const Value* replaced(const Value* value) const;

  int add_temporary(TensorType type);
  const TensorType& temporary(int index) const { return lowering_.temporaries[index]; }
  void set_place(const Value* value, KernelBinding place) { places_[value] = place; }
  void add_step(LoweredKernel step) { lowering_.steps.push_back(std::move(step)); }
  void set_hoistable_steps(int steps) { lowering_.hoistable_steps = steps; }
  void note_choice(std::string choice) { lowering_.choices.push_back(std::move(choice)); }
  int step_count() const { return static_cast<int>(lowering_.steps.size()); }
  Lowering finish() { return std::move(lowering_); }

  // What making `values` reads from buffers, in the order of first use. `provided` ones are not pulled: the caller makes them.
  Values inputs_of(const Values& values, const Values& provided = {}) const;
  // Whether making `value` needs `root`, which is in no buffer yet.
  bool needs(const Value* value, const Value* root) const;

 private:
  const Op* kernel_;
  const loops::Target* target_;
  LowerOptions options_;
  std::string name_;
  std::map<const Value*, KernelBinding> places_;
  std::map<const Value*, Value*> windows_;
  Lowering lowering_;
};

// Unmade results of the kernel that follow from `roots` by elementwise ops at the same index and need nothing else that
// is still to be made by a template; and after them those that need no root, but the same transcendental functions.
Values elementwise_followers(const Draft& draft, const Values& roots);

// Whether making `value` needs a result of a root op that is neither made nor among `roots`.
bool needs_other_root(const Draft& draft, const Value* value, const Values& roots);

// Those of `roots` that must be in a buffer although `taken` are made along with them: results of the kernel, and what
// other roots or other results need.
Values roots_to_store(const Draft& draft, const Values& roots, const Values& taken);

// elementwise_followers, then roots_to_store.
Values with_epilogue(const Draft& draft, const Values& roots);

// Reads of a step by which an output may take an input's memory: inputs that making `values` reads only at the index of
// the element being made. `stop`: values that are answered by other means.
std::set<const Value*> read_in_place(const Draft& draft, const Values& values, const std::set<const Value*>& stop = {});

}  // namespace ingot::schedule
