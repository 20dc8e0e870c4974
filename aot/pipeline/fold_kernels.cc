#include "aot/pipeline/fold_kernels.h"

#include "aot/analysis/kernel_time.h"
#include "aot/analysis/traffic.h"
#include "aot/lowered/fold_preparations.h"

namespace ingot {
namespace {

constexpr double kGainMin = 2;
constexpr int64_t kResultBytesMax = int64_t{4} << 20;
constexpr double kComputedNsMax = 2e6;  // of all that are folded: to interpret them takes some hundred times that

}  // namespace

void fold_kernels(lowered::Function& function, const Function& entry, const loops::Target& target) {
  const std::vector<const Op*> kernels = kernels_of(entry);
  double computed_ns = 0;
  lowered::fold_preparations(function, [&](const lowered::Node& node) {
    if (node.graph_kernel < 0) return false;
    int64_t result_bytes = 0;
    for (const lowered::ValueId result : node.results) result_bytes += function.type(result).bytes();
    const double ns = predicted_ns(*kernels[node.graph_kernel], target);
    if (result_bytes > kResultBytesMax || ns < kGainMin * predicted_copy_ns(result_bytes, target)) return false;
    if (computed_ns + ns > kComputedNsMax) return false;
    computed_ns += ns;
    return true;
  });
}

}  // namespace ingot
