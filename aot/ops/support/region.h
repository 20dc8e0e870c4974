// Regions of scalars: what they are when they are simple, and how the reference evaluator runs them.
#pragma once

#include <string_view>

#include "aot/graph/op.h"

namespace ingot::ops {

// The op of StableHLO of a region `(a, b) -> op(a, b)`: add, maximum. Commutative ops may take (b, a). Null when the
// region is anything else.
const OpDef* binary_region_op(const Block& region);

// "GE" for a region `(a, b) -> compare GE, a, b`; "" when it is anything else.
std::string_view compare_region_direction(const Block& region);

// i for a region that only returns its argument i; -1 when it is anything else.
int returned_argument(const Block& region);

// What an element of the op's operand number `operand` is in the region of a reduce, a reduce_window or a scatter; null
// for a scatter's indices.
const Value* region_argument(const Op& op, size_t operand);

// An `expand`: a region may combine numbers of a wider type than the operands have. They are converted to it; nothing
// when they have it already.
Values converted_for_region(ExpandArgs& args);

// Runs a region on elements of tensors: at once when it is one known op (then without rounding in between), else
// through the evaluator.
class RegionRunner {
 public:
  RegionRunner(const EvaluateArgs& args, const Block& region);

  // (into[0][at], ...) = region(into[0][at], ..., from[0][from_at], ...)
  void combine(std::span<RefTensor> into, int64_t at, std::span<const RefTensor> from, int64_t from_at) const;
  // region(x[x_at], y[y_at]), a truth value
  bool test(const RefTensor& x, int64_t x_at, const RefTensor& y, int64_t y_at) const;

 private:
  enum class Fast : uint8_t { kNone, kAdd, kMultiply, kMaximum, kMinimum, kAnd, kOr, kXor, kSecond };

  bool combine_fast(RefTensor& into, int64_t at, const RefTensor& from, int64_t from_at) const;

  const EvaluateArgs& args_;
  const Block& region_;
  Fast fast_ = Fast::kNone;
  std::string_view direction_;
};

}  // namespace ingot::ops
