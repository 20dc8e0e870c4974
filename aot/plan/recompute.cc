#include "aot/plan/recompute.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "aot/base/contains.h"
#include "aot/plan/bounded_run.h"

namespace ingot::plan {
namespace {

constexpr size_t kTriesMax = 512;  // to keep what is made again
constexpr std::array<LeaveWeights, 4> kWeights = {{{1, true}, {1, false}, {0.5, true}, {0, true}}};

int64_t peak_bytes(const RecomputeProblem& problem, const Runs& runs) {
  std::vector<int> order(runs.size());
  std::iota(order.begin(), order.end(), 0);
  return peak_bytes(problem_of(problem, runs), order);
}

std::vector<bool> are_again(const RecomputeProblem& problem, const Runs& runs) {
  std::vector<bool> again;
  std::vector<bool> seen(problem.order.nodes.size());
  for (const Run& run : runs) {
    again.push_back(seen[run.node]);
    seen[run.node] = true;
  }
  return again;
}

// Leaves out what nobody reads of what runs again.
void drop_unread(const RecomputeProblem& problem, Runs& runs) {
  const std::vector<bool> again = are_again(problem, runs);
  std::vector<bool> is_read(problem.order.value_bytes.size());
  for (size_t i = runs.size(); i-- > 0;) {
    Run& run = runs[i];
    if (again[i]) std::erase_if(run.makes, [&](int value) { return !is_read[value]; });
    for (const int value : run.makes) is_read[value] = false;
    if (run.makes.empty() && again[i]) continue;
    for (const int value : problem.order.nodes[run.node].reads) is_read[value] = true;
  }
  size_t at = 0;
  std::erase_if(runs, [&](const Run& run) { return again[at++] && run.makes.empty(); });
}

// Nodes do not run again for what can be kept after all; those that take longest are tried first.
void keep_what_fits(const RecomputeProblem& problem, int64_t limit_bytes, Runs& runs) {
  const auto may_keep = [&](const Run& run) {
    return std::ranges::all_of(run.makes, [&](int value) { return problem.overwritten_by[value] < 0; });
  };
  drop_unread(problem, runs);
  std::vector<bool> again = are_again(problem, runs);
  std::vector<size_t> tried;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (again[i] && may_keep(runs[i])) tried.push_back(i);
  }
  std::ranges::stable_sort(tried, std::greater<>(), [&](size_t i) { return problem.node_ns[runs[i].node]; });
  tried.resize(std::min(tried.size(), kTriesMax));
  std::vector<bool> is_dropped(runs.size());
  const auto rest = [&] {
    Runs kept;
    for (size_t i = 0; i < runs.size(); ++i) {
      if (!is_dropped[i]) kept.push_back(runs[i]);
    }
    drop_unread(problem, kept);
    return kept;
  };
  for (const size_t i : tried) {
    is_dropped[i] = true;
    if (peak_bytes(problem, rest()) > limit_bytes) is_dropped[i] = false;
  }
  runs = rest();
}

}  // namespace

std::optional<Runs> recompute(const RecomputeProblem& problem, int64_t limit_bytes) {
  std::optional<Runs> best;
  for (const LeaveWeights& weights : kWeights) {
    std::optional<Runs> runs = run_within(problem, limit_bytes, weights);
    if (!runs) continue;
    keep_what_fits(problem, limit_bytes, *runs);
    if (!best || again_ns(problem, *runs) < again_ns(problem, *best)) best = std::move(runs);
  }
  return best;
}

OrderProblem problem_of(const RecomputeProblem& problem, const Runs& runs) {
  OrderProblem made;
  made.value_bytes = problem.order.value_bytes;
  std::vector<int> newest(made.value_bytes.size());
  std::iota(newest.begin(), newest.end(), 0);
  const std::vector<bool> again = are_again(problem, runs);
  for (size_t i = 0; i < runs.size(); ++i) {
    const OrderNode& node = problem.order.nodes[runs[i].node];
    OrderNode& run = made.nodes.emplace_back();
    run.temporary_bytes = node.temporary_bytes;
    for (const int value : node.reads) run.reads.push_back(newest[value]);
    for (const int value : node.in_place) run.in_place.push_back(newest[value]);
    if (!again[i]) {
      run.writes = node.writes;
      continue;
    }
    for (const int value : node.writes) {
      const auto version = static_cast<int>(made.value_bytes.size());
      made.value_bytes.push_back(problem.again_bytes[value]);
      run.writes.push_back(version);
      if (contains(runs[i].makes, value)) newest[value] = version;
    }
  }
  return made;
}

double again_ns(const RecomputeProblem& problem, const Runs& runs) {
  const std::vector<bool> again = are_again(problem, runs);
  double ns = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (again[i]) ns += problem.node_ns[runs[i].node];
  }
  return ns;
}

}  // namespace ingot::plan
