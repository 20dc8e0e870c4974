#include "aot/analysis/word_depth.h"

#include "aot/ops/ops.h"
#include "aot/ops/support/dimension_numbers.h"

namespace ingot {
namespace {

// Along a dimension with `least` products of a sum or more. Words hold `elements`.
std::optional<WordDepth> word_depth(const Op& op, int64_t elements, int64_t least) {
  if (op.is(kConvolution)) {
    const Shape& kernel = op.operand(1)->type.shape;
    const ops::Convolution convolution = ops::read_convolution(op.attrs(), kernel);
    const int64_t input = convolution.dims.input_feature, of_kernel = convolution.dims.kernel_input_feature;
    const int64_t extent = kernel[of_kernel];
    const bool crosses_groups = convolution.feature_groups > 1 && extent % elements != 0;
    if (extent < least || crosses_groups || convolution.batch_groups > 1) return std::nullopt;
    return WordDepth{input, of_kernel};
  }
  if (!op.is(kDotGeneral)) return std::nullopt;
  const ops::DotDims dims = ops::read_dot_dims(op.attrs());
  std::optional<WordDepth> longest;
  int64_t extent = least - 1;
  for (size_t k = 0; k < dims.lhs_contract.size(); ++k) {
    const int64_t along = op.operand(0)->type.shape[dims.lhs_contract[k]];
    if (along <= extent) continue;
    extent = along;
    longest = {dims.lhs_contract[k], dims.rhs_contract[k]};
  }
  return longest;
}

}  // namespace

std::optional<WordDepth> byte_depth(const Op& op) { return word_depth(op, 4, 3); }

std::optional<WordDepth> pair_depth(const Op& op) { return word_depth(op, 2, 8); }

}  // namespace ingot
