// Accumulators of one reduce: registers that take elements in, chain by chain, and give the result.
//
// A reduce whose region is one associative scalar op has any number of chains (independent partial results, whole
// vectors of them) that start at the op's neutral element and are combined in a fixed order; the start value comes in
// last. Any other region has one chain that starts at the start values and takes the elements in order.
// Sums of f16 and bf16 are in registers of f32, and rounded after each element: that is what their region says.
#pragma once

#include <optional>

#include "aot/schedule/step.h"

namespace ingot::schedule {

// The associative scalar op that a region `(a, b) -> op(a, b)` is.
std::optional<loops::ScalarOp> known_op(const Block& region);

// op(neutral, x) = x
loops::Expr neutral_element(loops::KernelBuilder& b, loops::ScalarOp op, DType dtype);

class Accumulator {
 public:
  // `chains` is 1 unless the op is known; `lanes` of each. `is_long`: fold is going to be called.
  Accumulator(Step& step, const Op& reduce, int lanes, int chains, bool is_long = false);

  const Op& op() const { return op_; }
  bool is_known() const { return known_.has_value(); }

  void start();
  // Takes the elements at `index` of the operands into chain `chain`. `mask` (known ops only): lanes that count.
  void take(const loops::Index& chain, const std::vector<loops::Index>& index, const loops::Expr& mask);
  // Takes given values instead: partial results.
  void take_values(const loops::Index& chain, std::vector<loops::Expr> elements, const loops::Expr& mask);
  // A long sum of floats: adds what the chains hold to their totals and starts them anew. Done every kBlock elements of
  // a chain, the rounding error of n elements is that of n / kBlock + kBlock. Nothing for other ops. The last elements
  // are folded, too, before the chains are read.
  void fold();
  static constexpr int kBlock = 64;
  // All chains as one: what a partial result is, without the start value (known ops). `across_lanes`: one value.
  loops::Expr combined(bool across_lanes);
  // Chain `chain` alone, a vector.
  loops::Expr chain_value(const loops::Index& chain) const;
  // The reduce's result `i` from a combined value (known ops), or from the chain.
  loops::Expr result(int i, loops::Expr combined);

  int result_count() const { return static_cast<int>(tiles_.size()); }
  DType dtype(int i) const { return loops::register_dtype(op_.result(i)->type.dtype); }

 private:
  // By the known op. Sums and products of narrow floats are rounded.
  loops::Expr joined(loops::Expr a, loops::Expr b) const;

  Step& step_;
  const Op& op_;
  int chains_;
  std::optional<loops::ScalarOp> known_;
  std::vector<loops::TileId> tiles_;
  std::optional<loops::TileId> totals_;  // of long float sums, one for each chain
};

}  // namespace ingot::schedule
