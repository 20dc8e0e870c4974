#include "aot/analysis/flops.h"

#include <algorithm>
#include <map>

#include "aot/analysis/walk.h"
#include "aot/graph/attributes.h"
#include "aot/graph/op.h"
#include "aot/loops/contraction.h"
#include "aot/ops/ops.h"

namespace ingot {
namespace {

// The points of the dimensions that `access` depends on at which the operand has an element; they are marked as done.
int64_t existing_points(const loops::Contraction& contraction, const AxisMap& access, int64_t extent,
                        std::vector<bool>& done) {
  std::map<int64_t, int64_t> points_at = {{access.constant, 1}};
  for (size_t d = 0; d < contraction.dims.size(); ++d) {
    if (access.coefficients[d] == 0) continue;
    INGOT_CHECK(!done[d]);
    done[d] = true;
    std::map<int64_t, int64_t> next;
    for (const auto& [at, points] : points_at) {
      for (int64_t i = 0; i < contraction.dims[d].extent; ++i) next[at + access.coefficients[d] * i] += points;
    }
    points_at = std::move(next);
  }
  int64_t existing = 0;
  for (const auto& [at, points] : points_at) {
    if (at >= 0 && at % access.divisor == 0 && at / access.divisor < extent) existing += points;
  }
  return existing;
}

int64_t multiply_adds(const Op& op) {
  const loops::Contraction contraction = op.def->contraction(op);
  std::vector<bool> done(contraction.dims.size());
  int64_t points = 1;
  for (size_t i = 0; i < contraction.lhs.size(); ++i) {
    const AxisMap& access = contraction.lhs[i];
    if (!access.always) points *= existing_points(contraction, access, op.operand(0)->type.shape[i], done);
  }
  for (size_t d = 0; d < done.size(); ++d) {
    if (!done[d]) points *= contraction.dims[d].extent;
  }
  return points;
}

}  // namespace

int64_t count_flops(const Op& op) {
  if (op.is(kKernel)) return count_flops(op.region());
  if (op.is(kWhile)) {
    const int64_t trips = op.attrs().integer(attributes::kTripCount, 1);
    return (trips + 1) * count_flops(op.region(0)) + trips * count_flops(op.region(1));
  }
  if (is_control_flow(op)) {
    int64_t most = 0;
    for (const auto& region : op.regions) most = std::max(most, count_flops(*region));
    return most;
  }
  if (op.results.empty() || !is_float(op.result()->type.dtype)) return 0;
  if (op.def->contraction) return 2 * multiply_adds(op);
  if (op.def->root == KernelRoot::kReduce) return op.operand(0)->type.elements() * count_flops(op.region());
  return op.def->flops * op.result()->type.elements();
}

int64_t count_flops(const Block& block) {
  int64_t flops = 0;
  for (const auto& op : block.ops) flops += count_flops(*op);
  return flops;
}

}  // namespace ingot
