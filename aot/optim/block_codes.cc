#include "aot/optim/block_codes.h"

#include <bit>

#include "aot/frontend/trace/trace.h"

namespace ingot::optim {
namespace {

constexpr int64_t kBlockElementsMax = 256, kBlockElementsMin = 64, kCodedElementsMin = 4096;
constexpr int kDroppedBits = 20;  // of a float: 3 of its mantissa stay
constexpr int64_t kSign = 0x80;

int64_t first_code(const CodeFormat& format) { return std::bit_cast<uint32_t>(format.offset) >> kDroppedBits; }

// In [0, 2^20): what is added before bits are dropped. Element by element and step by step it goes round by irrational
// parts of a turn, those of the root of 2 and of the golden ratio.
Tensor dither(const Shape& shape, const CodeFormat& format, const Tensor& steps) {
  constexpr uint32_t kOfElement = 0x6A09E667, kOfStep = 0x9E3779B9;
  const Tensor block = arange(shape[0], DType::kUI32), element = arange(shape[1], DType::kUI32);
  const Tensor turn = to(steps, DType::kUI32) * int64_t{kOfStep} + int64_t{format.phase};
  const auto of_block = static_cast<uint32_t>(kOfElement * shape[1]);
  return (unsqueeze(block * int64_t{of_block}, 1) + (element * int64_t{kOfElement} + turn)) >> (32 - kDroppedBits);
}

}  // namespace

int64_t block_elements(const TensorType& type) {
  const int64_t count = type.elements();
  if (type.dtype == DType::kF64 || count < kCodedElementsMin) return 0;
  int64_t block = kBlockElementsMax;
  while (count % block != 0) --block;
  return block < kBlockElementsMin ? 0 : block;
}

Coded encode(const Tensor& values, const CodeFormat& format, const Tensor& steps) {
  const Tensor sizes = abs(values), scales = amax(sizes, -1);
  const Tensor shares = sizes / unsqueeze(where(scales == 0, 1, scales), -1);
  const Tensor bits = bitcast(shares + format.offset, DType::kUI32) + dither(values.shape(), format, steps);
  const Tensor size_codes = (bits >> kDroppedBits) - first_code(format);
  const Tensor codes =
      format.is_signed ? size_codes | where(values < 0, kSign, 0) : maximum(size_codes, to(values > 0, DType::kUI32));
  return {to(codes, DType::kUI8), scales};
}

Tensor decode(const Coded& coded, const CodeFormat& format) {
  const Tensor codes = to(coded.codes, DType::kUI32);
  const Tensor size_codes = format.is_signed ? codes & (kSign - 1) : codes;
  const Tensor shares = bitcast((size_codes + first_code(format)) << kDroppedBits, DType::kF32) - format.offset;
  const Tensor signed_shares = format.is_signed ? where(codes >= kSign, -shares, shares) : shares;
  return signed_shares * unsqueeze(coded.scales, -1);
}

}  // namespace ingot::optim
