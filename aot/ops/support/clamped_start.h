// Start indices of dynamic_slice, dynamic_update_slice and gather: clamped so that the slice lies within the operand.
#pragma once

#include <algorithm>
#include <limits>

#include "aot/graph/tensor.h"
#include "aot/loops/element.h"

namespace ingot::ops {

// The element `at` of `starts`, clamped to 0 .. high.
inline int64_t clamped_start(const RefTensor& starts, int64_t at, int64_t high) {
  const int64_t start = starts.i[at];
  if (start < 0 && is_unsigned(starts.type.dtype)) return high;  // ui64 is kept as bits
  return std::clamp<int64_t>(start, 0, high);
}

// The same for a kernel.
inline loops::Index clamped_start(loops::KernelBuilder& b, loops::Expr start, int64_t high) {
  if (high == 0) return 0;
  const DType dtype = start->dtype;
  if (!is_unsigned(dtype)) start = b.apply(loops::ScalarOp::kMaximum, {start, b.constant_int(dtype, 0)});
  if (high < greatest_integer(dtype)) start = b.apply(loops::ScalarOp::kMinimum, {start, b.constant_int(dtype, high)});
  return b.let_index("start", start, 0, std::min(high, greatest_integer(dtype)));
}

// Operand `i`, a scalar: the same for every element, so it is read without the element's mask.
inline loops::Expr scalar_operand(loops::ElementArgs& args, int i) {
  return args.source.element(args.op.operand(i), {}, nullptr);
}

// The start index that the scalar operand `i` gives, clamped to 0 .. high.
inline loops::Index scalar_start(loops::ElementArgs& args, int i, int64_t high) {
  return high == 0 ? loops::Index(0) : clamped_start(args.b, scalar_operand(args, i), high);
}

}  // namespace ingot::ops
