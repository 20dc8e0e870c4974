#include "aot/analysis/kernel_time.h"

#include <algorithm>

#include "aot/analysis/flops.h"
#include "aot/analysis/traffic.h"
#include "aot/analysis/walk.h"
#include "aot/graph/op.h"
#include "aot/ops/ops.h"

namespace ingot {
namespace {

constexpr double kPeakShare = 0.7;  // of multiply-adds per nanosecond, that products and convolutions reach

double compute_ns(const Block& block, const loops::Target& target) {
  double ns = 0;
  for (const auto& op : block.ops) {
    if (op->def->contraction) {
      const double lanes = target.lanes(loops::register_dtype(op->result()->type.dtype));
      const double flops_per_ns = 2 * kPeakShare * lanes * target.machine.multiply_adds_per_ns;
      ns += static_cast<double>(count_flops(*op)) / flops_per_ns;
    } else if (op->is(kKernel)) {
      ns += compute_ns(op->region(), target);
    } else if (is_control_flow(*op)) {
      ns += target.machine.flop_ns * static_cast<double>(count_flops(*op));
    } else if (!op->results.empty()) {
      int64_t elements = op->result()->type.elements();
      if (op->def->root == KernelRoot::kReduce) elements = std::max(elements, op->operand(0)->type.elements());
      ns += target.machine.flop_ns * static_cast<double>(elements * op->def->flops);
    }
  }
  return ns;
}

}  // namespace

double predicted_ns(const Op& kernel, const loops::Target& target) {
  const Traffic::Kernel traffic = measure_kernel(kernel);
  return compute_ns(kernel.region(), target) + predicted_copy_ns(traffic.read_bytes + traffic.written_bytes, target);
}

double predicted_copy_ns(int64_t bytes, const loops::Target& target) {
  return target.machine.kernel_ns + target.machine.byte_ns * static_cast<double>(bytes);
}

}  // namespace ingot
