#include "aot/analysis/byte_depth.h"

#include "aot/ops/ops.h"
#include "aot/ops/support/dimension_numbers.h"

namespace ingot {
namespace {

constexpr int64_t kWordBytes = 4, kLeastDepth = 3;

}  // namespace

std::optional<ByteDepth> byte_depth(const Op& op) {
  if (op.is(kConvolution)) {
    const Shape& kernel = op.operand(1)->type.shape;
    const ops::Convolution convolution = ops::read_convolution(op.attrs(), kernel);
    const int64_t input = convolution.dims.input_feature, of_kernel = convolution.dims.kernel_input_feature;
    const int64_t extent = kernel[of_kernel];
    const bool crosses_groups = convolution.feature_groups > 1 && extent % kWordBytes != 0;
    if (extent < kLeastDepth || crosses_groups || convolution.batch_groups > 1) return std::nullopt;
    return ByteDepth{input, of_kernel};
  }
  if (!op.is(kDotGeneral)) return std::nullopt;
  const ops::DotDims dims = ops::read_dot_dims(op.attrs());
  std::optional<ByteDepth> longest;
  int64_t extent = kLeastDepth - 1;
  for (size_t k = 0; k < dims.lhs_contract.size(); ++k) {
    const int64_t along = op.operand(0)->type.shape[dims.lhs_contract[k]];
    if (along <= extent) continue;
    extent = along;
    longest = {dims.lhs_contract[k], dims.rhs_contract[k]};
  }
  return longest;
}

}  // namespace ingot
