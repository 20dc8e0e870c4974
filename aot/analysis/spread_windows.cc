#include "aot/analysis/spread_windows.h"

#include <algorithm>

#include "aot/graph/op.h"
#include "aot/loops/contraction.h"
#include "aot/ops/support/dimension_numbers.h"

namespace ingot {

bool skips_gaps(const Op& convolution) {
  const TensorType &x = convolution.operand(0)->type, &w = convolution.operand(1)->type;
  const ops::Convolution conv = ops::read_convolution(convolution.attrs(), w.shape);
  const auto is_spread = [](const ops::WindowDim& dim) { return dim.base_dilation > 1; };
  const auto has_short_edges = [](const ops::WindowDim& dim) {
    return std::max<int64_t>(dim.low, 0) + std::max<int64_t>(dim.high, 0) <= kEdgeRowsMax;
  };
  return std::ranges::any_of(conv.window, is_spread) && std::ranges::all_of(conv.window, has_short_edges) &&
         conv.feature_groups > 1 && conv.batch_groups == 1 && w.shape[conv.dims.kernel_input_feature] == 1 &&
         w.shape[conv.dims.kernel_output_feature] == conv.feature_groups && w.elements() != 0 &&
         w.elements() <= kGapPlacesMax * conv.feature_groups &&
         x.dtype == convolution.def->contraction(convolution).accumulate;
}

}  // namespace ingot
