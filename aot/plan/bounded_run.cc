#include "aot/plan/bounded_run.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ingot::plan {
namespace {

constexpr int kNever = std::numeric_limits<int>::max();
constexpr size_t kRunsMax = 8;     // of a node, on average: what takes longer is of no use
constexpr size_t kLeavesMax = 16;  // of a value for each node: so much is tried
constexpr double kImpossible = std::numeric_limits<double>::infinity();

class BoundedRun {
 public:
  BoundedRun(const RecomputeProblem& problem, int64_t limit_bytes, const LeaveWeights& weights)
      : problem_(problem),
        nodes_(problem.order.nodes),
        limit_bytes_(limit_bytes),
        weights_(weights),
        values_(problem.order.value_bytes.size()),
        overwrites_(nodes_.size()),
        marks_(nodes_.size()) {
    for (int node = 0; node < node_count(); ++node) {
      for (const int value : nodes_[node].reads) values_[value].readers.push_back(node);
      for (const int value : nodes_[node].writes) values_[value].maker = node;
    }
    for (int v = 0; v < value_count(); ++v) {
      values_[v].is_there = values_[v].maker < 0;
      if (problem.overwritten_by[v] >= 0) overwrites_[problem.overwritten_by[v]].push_back(v);
    }
  }

  std::optional<Runs> run() {
    for (now_ = 0; now_ < node_count(); ++now_) {
      if (!run_first(now_)) return std::nullopt;
    }
    return std::move(runs_);
  }

 private:
  struct Value {
    int maker = -1;
    std::vector<int> readers = {};  // ascending
    bool is_there = false;
    int64_t bytes = 0;       // while it is there
    int locks = 0;           // by nodes that are about to read it, or to make it
    int needed_at = kNever;  // the node for which it is read next, be it by way of what is made again
  };

  int node_count() const { return static_cast<int>(nodes_.size()); }
  int value_count() const { return static_cast<int>(values_.size()); }
  bool may_run_again(int node) const { return node >= 0 && problem_.node_ns[node] >= 0; }

  // `next` is the first node that is still to read in its own right. What a value that is gone is made of is needed as
  // soon as that is.
  void find_needs(int next) {
    for (Value& value : values_) {
      const auto reader = std::ranges::lower_bound(value.readers, next);
      value.needed_at = reader == value.readers.end() ? kNever : *reader;
    }
    for (int node = std::min(next, node_count()) - 1; node >= 0; --node) {
      const int needed_at = needed_again_at(node);
      if (needed_at == kNever) continue;
      for (const int value : nodes_[node].reads) {
        values_[value].needed_at = std::min(values_[value].needed_at, needed_at);
      }
    }
  }

  int needed_again_at(int node) const {
    int needed_at = kNever;
    for (const int value : nodes_[node].writes) {
      if (!values_[value].is_there) needed_at = std::min(needed_at, values_[value].needed_at);
    }
    return needed_at;
  }

  void lock(const std::vector<int>& values, int by) {
    for (const int value : values) values_[value].locks += by;
  }

  void remove(Value& value) {
    if (value.is_there) live_bytes_ -= value.bytes;
    value.is_there = false;
    value.bytes = 0;
  }

  bool run_first(int node) {
    if (!make_operands(node)) return false;
    for (const int value : nodes_[node].writes) values_[value].bytes = problem_.order.value_bytes[value];
    return run({node, nodes_[node].writes}, node + 1, 0, overwrites_[node]);
  }

  bool make_operands(int node) {
    lock(nodes_[node].reads, 1);
    return std::ranges::all_of(nodes_[node].reads, [&](int value) {
      return values_[value].is_there || (may_run_again(values_[value].maker) && run_again(values_[value].maker));
    });
  }

  bool run_again(int node) {
    if (runs_.size() > kRunsMax * nodes_.size() || !make_operands(node)) return false;
    Run again{node, {}};
    int64_t spare_bytes = 0;  // of what is there already, or is not read
    for (const int value : nodes_[node].writes) {
      if (values_[value].is_there || values_[value].needed_at == kNever) {
        spare_bytes += problem_.again_bytes[value];
        continue;
      }
      again.makes.push_back(value);
      values_[value].bytes = problem_.again_bytes[value];
    }
    return run(again, now_, spare_bytes, {});
  }

  // Of a node whose operands are there, and locked.
  bool run(const Run& run, int next, int64_t spare_bytes, const std::vector<int>& overwrites) {
    const OrderNode& node = nodes_[run.node];
    int64_t made_bytes = 0;
    for (const int value : run.makes) {
      values_[value].is_there = true;
      made_bytes += values_[value].bytes;
    }
    lock(run.makes, 1);
    find_needs(next);
    const int64_t wanted_bytes = made_bytes + spare_bytes + node.temporary_bytes;
    while (live_bytes_ + wanted_bytes - std::min(taken_over_bytes(run.node), made_bytes) > limit_bytes_) {
      if (!let_one_leave()) return false;
      find_needs(next);
    }
    live_bytes_ += made_bytes;
    runs_.push_back(run);
    for (const int value : overwrites) remove(values_[value]);
    if (!overwrites.empty()) find_needs(next);
    lock(run.makes, -1);
    lock(node.reads, -1);
    for (Value& value : values_) {
      if (value.needed_at == kNever && value.bytes > 0 && value.locks == 0) remove(value);
    }
    return true;
  }

  // Of operands that nobody reads afterwards, in whose place a node may write.
  int64_t taken_over_bytes(int node) const {
    int64_t bytes = 0;
    for (const int value : nodes_[node].in_place) {
      const bool is_overwritten = problem_.overwritten_by[value] == node;
      if (is_overwritten || values_[value].needed_at == kNever) bytes += values_[value].bytes;
    }
    return bytes;
  }

  // The value of the least time for each byte, and for each step that the byte stays free.
  bool let_one_leave() {
    if (++leaves_ > kLeavesMax * nodes_.size()) return false;
    Value* best = nullptr;
    double least = kImpossible;
    for (Value& value : values_) {
      if (!value.is_there || value.bytes == 0 || value.locks > 0 || !may_run_again(value.maker)) continue;
      const double byte_distance = static_cast<double>(value.bytes) * distance_of(value);
      if (problem_.node_ns[value.maker] / byte_distance >= least) continue;
      const double price = ns_without(value) / byte_distance;
      if (price >= least) continue;
      best = &value;
      least = price;
    }
    if (best) remove(*best);
    return best;
  }

  double distance_of(const Value& value) const {
    return std::pow(std::max(1, value.needed_at - now_), weights_.distance_power);
  }

  // The time that it takes if a value leaves.
  double ns_without(const Value& value) {
    ++mark_;
    return ns_to_make(value, value.needed_at) + (weights_.counts_readers ? ns_of_readers(value) : 0);
  }

  // For the node `at`, with whatever it is made of that is not there by then: what is there stays as long as it is
  // needed, unless it is overwritten.
  double ns_to_make(const Value& value, int at) {
    if (!may_run_again(value.maker)) return kImpossible;
    if (marks_[value.maker] == mark_) return 0;
    marks_[value.maker] = mark_;
    double ns = problem_.node_ns[value.maker];
    for (const int read : nodes_[value.maker].reads) {
      const int overwritten_by = problem_.overwritten_by[read];
      const bool stays = values_[read].is_there && (overwritten_by < now_ || overwritten_by >= at);
      if (!stays) ns += ns_to_make(values_[read], at);
    }
    return ns;
  }

  // Of what is gone, will be needed, and is made of a value.
  double ns_of_readers(const Value& value) {
    double ns = 0;
    for (const int reader : value.readers) {
      if (reader >= now_) break;
      if (marks_[reader] == mark_ || needed_again_at(reader) == kNever) continue;
      marks_[reader] = mark_;
      ns += problem_.node_ns[reader];
      for (const int made : nodes_[reader].writes) {
        if (!values_[made].is_there) ns += ns_of_readers(values_[made]);
      }
    }
    return ns;
  }

  const RecomputeProblem& problem_;
  const std::vector<OrderNode>& nodes_;
  const int64_t limit_bytes_;
  const LeaveWeights weights_;
  std::vector<Value> values_;
  std::vector<std::vector<int>> overwrites_;  // of each node: values
  std::vector<int> marks_;                    // of each node: the last walk that came by
  int mark_ = 0;
  int now_ = 0;  // the node that runs for the first time
  size_t leaves_ = 0;
  int64_t live_bytes_ = 0;
  Runs runs_;
};

}  // namespace

std::optional<Runs> run_within(const RecomputeProblem& problem, int64_t limit_bytes, const LeaveWeights& weights) {
  return BoundedRun(problem, limit_bytes, weights).run();
}

}  // namespace ingot::plan
