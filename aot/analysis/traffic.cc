#include "aot/analysis/traffic.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/analysis/flops.h"
#include "aot/graph/op.h"
#include "aot/ops/ops.h"

namespace ingot {

Traffic measure_traffic(const Function& function) {
  Traffic traffic;
  for (const auto& op : function.body.ops) {
    if (!op->is(kKernel)) continue;
    Traffic::Kernel kernel{.name = op->attrs().string("name"), .flops = count_flops(*op)};
    for (const Value* operand : op->operands) kernel.read_bytes += operand->type.bytes();
    for (const auto& result : op->results) {
      kernel.written_bytes += result->type.bytes();
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
