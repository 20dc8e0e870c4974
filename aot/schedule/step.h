// One loops kernel of a lowering in the making: its builder, its pull, and what its buffers are bound to.
#pragma once

#include "aot/schedule/draft.h"

namespace ingot::schedule {

// Declare what it reads, then what it writes, then scratch; then build; then finish.
// An element, or the vector of elements that a mask leaves.
struct SweepPlace {
  std::vector<loops::Index> index;
  loops::Expr mask;
};

class Step {
 public:
  Step(Draft& draft, int lanes);

  Draft& draft() { return draft_; }
  const Draft& draft() const { return draft_; }
  loops::KernelBuilder& b() { return b_; }
  Pull& pull() { return pull_; }

  // Everything in buffers that making `values` reads; `provided` ones are not pulled: the caller makes them.
  void read(const Values& values, const Values& provided = {});
  loops::BufferId read_temporary(int temporary);
  loops::BufferId input(const Value* value) const { return inputs_.at(value); }  // of a value that `read` declared
  const std::map<const Value*, loops::BufferId>& inputs() const { return inputs_; }
  // The results that `value` is, or a new temporary when it is none. An output takes the memory of an input of
  // `in_place` where sizes agree, or else one of them that of `sums`, a temporary that is read at the same places.
  void write(const Values& values, const std::set<const Value*>& in_place = {}, loops::BufferId sums = -1);
  loops::BufferId write_temporary(int temporary);
  // Some of `value`: over the input `whole`, whose place it takes, or over what an earlier step wrote of it.
  void update(const Value* value, loops::BufferId whole = -1);

  loops::BufferId output(const Value* value) const { return outputs_.at(value)[0]; }  // of a value that `write` named
  // Stores an element of a value that `write` named; of an update, one of its window's source.
  void store(const Value* value, const std::vector<loops::Index>& index, const loops::Expr& element,
             const loops::Expr& mask);
  // Pulls and stores an element (or vector of them) of each at each place; all are read before the first is stored.
  void store_pulled(const Values& values, const std::vector<SweepPlace>& places);
  void store_pulled(const Values& values, const std::vector<loops::Index>& index, const loops::Expr& mask) {
    store_pulled(values, std::vector<SweepPlace>{{index, mask}});
  }

  void finish();  // from here on the written values can be read by further steps

 private:
  loops::BufferId declare_output(const std::string& name, const TensorType& type, KernelBinding binding,
                                 loops::BufferId may_alias);
  bool may_take(const Value* value, loops::BufferId temporary);
  // Where the element of an update goes whose source's index this is.
  std::vector<loops::Index> place_in_whole(const Op& update, const std::vector<loops::Index>& index);

  Draft& draft_;
  loops::KernelBuilder b_;
  Pull pull_;
  std::vector<KernelBinding> bindings_;
  std::map<const Value*, loops::BufferId> inputs_;
  std::map<const Value*, std::vector<loops::BufferId>> outputs_;
  std::vector<std::pair<const Value*, KernelBinding>> made_;
};

// Lanes of a step that makes and reads these values: as its widest elements allow.
int lanes_for(const Draft& draft, const Values& makes);

// The same of a step in which the order of a sum depends on the lanes.
int summing_lanes_for(const Draft& draft, const Values& makes);

// Estimated time to make the values on one core, for task splits: shapes alone decide. What tasks make is in some kernels
// summed up, so both are as the target's order of sums has them.
double work_ns(const Draft& draft, const Values& makes);

// How many tasks are worth their start, by the work: from 1 to the target's `tasks_max`.
int64_t wanted_tasks(const Draft& draft, double work_ns);

// `units` in `tasks` contiguous parts of `each` (a multiple of `multiple`); the last may be shorter.
struct TaskSplit {
  int64_t tasks;
  int64_t each;
};
TaskSplit split_tasks(int64_t units, int64_t wanted, int64_t multiple = 1);

// What this task does of `units` that `wanted` tasks at most share, as split_tasks says: from `first` to `end`, which in
// the last task is past the last unit. Sets the task count, to 0 where there are no units.
struct TaskPart {
  loops::Index first, end;
  int64_t each;
  int64_t tasks;
};
TaskPart part_of_task(loops::KernelBuilder& b, int64_t units, int64_t wanted, int64_t multiple = 1);

// A piece of a unit's run, where a task is one piece: from `first`, `each` elements; a unit's last may reach past its end.
struct TaskPiece {
  loops::Index unit, index, first;
  int64_t each;
  loops::Expr is_last;  // nullptr where a unit is one piece
};
// Sets the task count: `units` times the pieces, at most `wanted`, in which split_tasks cuts a run.
TaskPiece piece_of_task(loops::KernelBuilder& b, int64_t units, int64_t run, int64_t wanted, int64_t multiple);

// body(unit) for each of `units`, which so many tasks at most share; `name` is a unit's in the text.
void for_each_unit(loops::KernelBuilder& b, const std::string& name, int64_t units, int64_t wanted,
                   const std::function<void(loops::Index)>& body);

// body(i, mask) for the elements first .. first + each of a run of `extent`, a vector at a time. The mask is for the
// end of the run, where elements fill no vector.
void walk_run(loops::KernelBuilder& b, const loops::Index& first, int64_t each, int64_t extent,
              const std::function<void(const loops::Index& i, const loops::Expr& mask)>& body);

}  // namespace ingot::schedule
