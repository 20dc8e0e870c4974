// Rows: every reduce is over the same innermost dimensions. A task takes some rows; a row is walked once for each level
// of reduces that build on each other and is stored in the last walks. Softmax: maximum; exponentials and their sum;
// quotients. An expensive intermediate that a later walk needs again is kept in a row of scratch.
#include <algorithm>

#include "aot/base/contains.h"
#include "aot/schedule/reduce/reduce_space.h"

namespace ingot::schedule {
namespace {

using loops::Expr;
using loops::Index;

constexpr int kChains = 4;
constexpr int64_t kLongSum = 2048;  // sums of more elements are folded block by block

class Rows {
 public:
  Rows(Draft& draft, const ReduceGroup& group) : draft_(draft), group_(group), step_(draft, lanes()) { assign_walks(); }

  // False: a value was wanted at another row or element than the current one.
  bool build() {
    declare();
    Values makes = group_.row_values;
    makes.insert(makes.end(), group_.kept_values.begin(), group_.kept_values.end());
    for_each_unit(step_.b(), "row", group_.kept_count(), wanted_tasks(draft_, work_ns(draft_, makes)),
                  [&](const Index& row) { emit_row(row); });
    if (!reads_only_current_row_) return false;
    step_.finish();
    return true;
  }

 private:
  int lanes() const {
    Values values = group_.roots();
    values.insert(values.end(), group_.row_values.begin(), group_.row_values.end());
    return group_.run() > 1 ? summing_lanes_for(draft_, values) : 1;
  }

  const loops::Machine& machine() const { return draft_.target().machine; }

  // Else it takes its elements one by one, after what is made in the walk has been stored.
  static bool has_known_op(const Op& reduce) { return known_op(reduce.region()).has_value(); }

  // In which walk each reduce and each row value is made.
  void assign_walks() {
    const auto walk_after = [&](const Values& operands) {
      int walk = 0;
      for (const Op* earlier : group_.reduces) {
        if (!reduce_walk_.contains(earlier)) continue;
        for (const Value* operand : operands) {
          for (const auto& result : earlier->results) {
            if (draft_.needs(operand, result.get())) walk = std::max(walk, reduce_walk_[earlier] + 1);
          }
        }
      }
      return walk;
    };
    for (const Op* op : group_.reduces) {
      reduce_walk_[op] = walk_after(op->operands);
      walk_count_ = std::max(walk_count_, reduce_walk_[op] + 1);
    }
    for (Value* value : group_.row_values) {
      value_walk_[value] = walk_after({value});
      walk_count_ = std::max(walk_count_, value_walk_[value] + 1);
    }
    // What replaces an operand takes its place if it is stored last: see declare.
    if (std::ranges::none_of(group_.row_values, [&](const Value* value) { return draft_.replaced(value); })) return;
    for (auto& [value, walk] : value_walk_) walk = walk_count_ - 1;
  }

  Values targets(int walk) const {
    Values values;
    for (const Op* op : group_.reduces) {
      const size_t count = op->results.size();
      if (reduce_walk_.at(op) == walk) values.insert(values.end(), op->operands.begin(), op->operands.begin() + count);
    }
    for (Value* value : group_.row_values) {
      if (value_walk_.at(value) == walk) values.push_back(value);
    }
    return values;
  }

  // The expensive values of a whole row that walk `walk` computes and a later one needs again.
  Values values_to_keep(int walk) const {
    std::set<const Value*> later;
    const auto collect = [&](const auto& self, const Value* value, std::set<const Value*>& into) -> void {
      if (draft_.is_made(value) || kept_.contains(value) || contains(group_.roots(), value) ||
          !into.insert(value).second)
        return;
      for (const Value* operand : value->op->operands) self(self, operand, into);
    };
    std::set<const Value*> now;
    for (const Value* value : targets(walk)) collect(collect, value, now);
    for (int next = walk + 1; next < walk_count_; ++next) {
      for (const Value* value : targets(next)) collect(collect, value, later);
    }
    Values values;
    for (const auto& op : draft_.body().ops) {
      if (op->def->flops < machine().flops_per_fetch() || op->results.size() != 1 ||
          op->result()->type.shape != group_.shape)
        continue;
      if (now.contains(op->result()) && later.contains(op->result())) values.push_back(op->result());
    }
    return values;
  }

  void declare() {
    Values reads = group_.roots();
    reads.insert(reads.end(), group_.row_values.begin(), group_.row_values.end());
    reads.insert(reads.end(), group_.kept_values.begin(), group_.kept_values.end());
    step_.read(reads);
    // A row may overwrite its input when nothing is stored before the last walk, and nothing reads after it.
    bool stores_last = true;
    for (const auto& [value, walk] : value_walk_) stores_last &= walk == walk_count_ - 1;
    for (const auto& [op, walk] : reduce_walk_) stores_last &= walk < walk_count_ - 1 || has_known_op(*op);
    Values whole_rows = group_.row_values;
    for (int walk = 0; walk < walk_count_; ++walk) {
      const Values more = targets(walk);
      whole_rows.insert(whole_rows.end(), more.begin(), more.end());
    }
    std::set<const Value*> stop;
    for (const Value* root : group_.roots()) stop.insert(root);
    std::set<const Value*> in_place;
    if (stores_last) in_place = read_in_place(draft_, whole_rows, stop);
    for (const Value* value : draft_.inputs_of(group_.kept_values, group_.roots())) in_place.erase(value);
    step_.write(group_.row_values, in_place);
    step_.write(group_.kept_values);
    if (!group_.outer.empty() && group_.row_values.empty()) return;
    for (int walk = 0; walk + 1 < walk_count_; ++walk) {
      for (Value* value : values_to_keep(walk)) {
        const DType dtype = loops::register_dtype(value->type.dtype);
        scratch_bytes_ += group_.reduced_count() * info(dtype).bytes;
        if (scratch_bytes_ > machine().kept_row_bytes) return;
        kept_[value] = step_.b().scratch("row", dtype, group_.reduced_count());
        keep_in_walk_[walk].push_back(value);
      }
    }
  }

  void emit_row(const Index& row) {
    Pull::Scope scope(step_.pull());
    const std::vector<Index> kept_index = loops::unflatten(step_.b(), row, group_.kept_shape);
    for (int walk = 0; walk < walk_count_; ++walk) emit_walk(walk, kept_index);
    for (Value* value : group_.kept_values) {
      const Shape& shape = value->type.shape;
      step_.store_pulled({value}, shape == group_.kept_shape ? kept_index : loops::unflatten(step_.b(), row, shape),
                         nullptr);
    }
  }

  void emit_walk(int walk, const std::vector<Index>& kept_index) {
    loops::KernelBuilder& b = step_.b();
    std::vector<Accumulator> vectors, scalars;
    const bool is_long = group_.reduced_count() > kLongSum && group_.run() > 1;
    const int chains = group_.run() >= kChains * b.vector_lanes() ? kChains : 1;
    for (const Op* op : group_.reduces) {
      if (reduce_walk_[op] != walk) continue;
      if (has_known_op(*op)) {
        vectors.emplace_back(step_, *op, group_.run() > 1 ? b.vector_lanes() : 1, chains, is_long).start();
      } else {
        scalars.emplace_back(step_, *op, 1, 1).start();
      }
    }
    Values stores;
    for (Value* value : group_.row_values) {
      if (value_walk_[value] == walk) stores.push_back(value);
    }
    if (!vectors.empty() || !stores.empty() || !keep_in_walk_[walk].empty()) {
      const auto fold = [&] {
        for (Accumulator& accumulator : vectors) accumulator.fold();
      };
      RowWalk row_walk{.chains = chains};
      if (is_long && !vectors.empty()) row_walk.after_block = fold;
      walk_row(step_, group_, kept_index, row_walk,
               [&](const auto& index, const Index& offset, const Index& chain, const Expr& mask) {
                 element_ = index;
                 offset_ = offset;
                 for (const Value* value : keep_in_walk_[walk]) {
                   b.store(kept_[value], offset, step_.pull().element(value, index, mask), mask);
                 }
                 for (Accumulator& accumulator : vectors) accumulator.take(chain, index, mask);
                 if (!stores.empty()) step_.store_pulled(stores, index, mask);
               });
    }
    for (const Value* value : keep_in_walk_[walk]) {
      step_.pull().answer(value, [this, value](const std::vector<Index>& index, const Expr& mask) {
        reads_only_current_row_ &= index == element_;
        return step_.b().load(kept_[value], offset_, mask);
      });
    }
    if (!scalars.empty()) {
      walk_row(step_, group_, kept_index, {.vectors = false},
               [&](const auto& index, const Index& offset, const Index& chain, const Expr&) {
                 element_ = index;
                 offset_ = offset;
                 for (Accumulator& accumulator : scalars) accumulator.take(chain, index, nullptr);
               });
    }
    for (Accumulator& accumulator : vectors) answer(accumulator, kept_index, accumulator.combined(true));
    for (Accumulator& accumulator : scalars) answer(accumulator, kept_index, nullptr);
  }

  void answer(Accumulator& accumulator, const std::vector<Index>& kept_index, const Expr& combined) {
    for (int i = 0; i < accumulator.result_count(); ++i) {
      const Expr result = step_.b().let("reduced", accumulator.result(i, combined));
      const Index row = loops::flatten(kept_index, group_.kept_shape);
      step_.pull().answer(accumulator.op().result(i),
                          [this, result, row](const std::vector<Index>& index, const Expr&) {
                            reads_only_current_row_ &= loops::flatten(index, group_.kept_shape) == row;
                            return result;
                          });
    }
  }

  Draft& draft_;
  const ReduceGroup& group_;
  Step step_;
  std::map<const Op*, int> reduce_walk_;
  std::map<const Value*, int> value_walk_;
  int walk_count_ = 1;
  std::map<const Value*, loops::BufferId> kept_;
  std::map<int, Values> keep_in_walk_;
  int64_t scratch_bytes_ = 0;
  std::vector<Index> element_;  // where the walk is, in `shape` and in the row
  Index offset_;
  bool reads_only_current_row_ = true;
};

}  // namespace

bool lower_rows(Draft& draft, const ReduceGroup& group) {
  Draft trial = draft;
  if (!Rows(trial, group).build()) return false;
  draft = std::move(trial);
  return true;
}

}  // namespace ingot::schedule
