#include "aot/analysis/traffic.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/analysis/flops.h"
#include "aot/analysis/walk.h"
#include "aot/graph/op.h"
#include "aot/ops/ops.h"
#include "aot/ops/support/update.h"

namespace ingot {

namespace {

void add_kernels(const Block& block, std::vector<const Op*>& kernels) {
  for (const auto& op : block.ops) {
    if (op->is(kKernel)) {
      kernels.push_back(op.get());
    } else if (is_control_flow(*op)) {
      for (const auto& region : op->regions) add_kernels(*region, kernels);
    }
  }
}

// An op that is made element by element reads no more elements of an operand than it makes: of a table its rows, of an
// array its slice.
int64_t bytes_read(const Value& argument) {
  int64_t bytes = 0;
  for (const Value::Use& use : argument.uses) {
    const bool is_by_element = use.op->def->root == KernelRoot::kElement && !use.op->results.empty();
    const int64_t elements = is_by_element ? use.op->result()->type.elements() : argument.type.elements();
    if (ops::is_update(*use.op) && use.operand_index == 0) continue;
    bytes = std::max(bytes, elements * info(argument.type.dtype).bytes);
  }
  return std::min(bytes, argument.type.bytes());
}

int64_t bytes_written(const Value& yielded) {
  if (yielded.op && is_unread(*yielded.op)) return 0;
  const bool is_update = yielded.op && ops::is_update(*yielded.op);
  return is_update ? yielded.op->operand(1)->type.bytes() : yielded.type.bytes();
}

}  // namespace

std::vector<const Op*> kernels_of(const Function& function) {
  std::vector<const Op*> kernels;
  add_kernels(function.body, kernels);
  return kernels;
}

Traffic::Kernel measure_kernel(const Op& op) {
  Traffic::Kernel kernel{.name = attr_text(op.attr_map, "name"), .flops = count_flops(op)};
  for (const auto& argument : op.region().arguments) kernel.read_bytes += bytes_read(*argument);
  for (const Value* yielded : op.region().terminator()->operands) kernel.written_bytes += bytes_written(*yielded);
  return kernel;
}

Traffic measure_traffic(const Function& function) {
  Traffic traffic;
  for (const Op* op : kernels_of(function)) {
    Traffic::Kernel kernel = measure_kernel(*op);
    for (const auto& result : op->results) {
      const bool is_read = std::any_of(result->uses.begin(), result->uses.end(),
                                       [](const Value::Use& use) { return !use.op->def->is_terminator; });
      if (is_read) traffic.between_bytes += result->type.bytes();
    }
    traffic.read_bytes += kernel.read_bytes;
    traffic.written_bytes += kernel.written_bytes;
    traffic.flops += kernel.flops;
    traffic.kernels.push_back(std::move(kernel));
  }
  return traffic;
}

std::string to_string(const Traffic& traffic, const std::string& function_name) {
  std::string text = fmt::format("@{}\n{:>12} {:>12} {:>14}  kernel\n", function_name, "read", "written", "flops");
  for (const Traffic::Kernel& kernel : traffic.kernels) {
    text +=
        fmt::format("{:>12} {:>12} {:>14}  {}\n", kernel.read_bytes, kernel.written_bytes, kernel.flops, kernel.name);
  }
  return text + fmt::format("{:>12} {:>12} {:>14}  in {} kernels; {} bytes pass between them\n", traffic.read_bytes,
                            traffic.written_bytes, traffic.flops, traffic.kernels.size(), traffic.between_bytes);
}

}  // namespace ingot
