#include "aot/schedule/reduce/accumulate.h"

#include <cmath>

#include "aot/ops/ops.h"
#include "aot/ops/support/region.h"

namespace ingot::schedule {

using loops::Expr;
using loops::Index;
using loops::ScalarOp;

std::optional<ScalarOp> known_op(const Block& region) {
  static constexpr std::pair<const OpDef*, ScalarOp> kAssociative[] = {
      {&kAdd, ScalarOp::kAdd},         {&kMultiply, ScalarOp::kMultiply}, {&kMaximum, ScalarOp::kMaximum},
      {&kMinimum, ScalarOp::kMinimum}, {&kAnd, ScalarOp::kAnd},           {&kOr, ScalarOp::kOr},
      {&kXor, ScalarOp::kXor},
  };
  const OpDef* applied = ops::binary_region_op(region);
  for (const auto& [op, known] : kAssociative) {
    if (applied == op) return known;
  }
  return std::nullopt;
}

Expr neutral_element(loops::KernelBuilder& b, ScalarOp op, DType dtype) {
  const DTypeInfo& type = info(dtype);
  const bool is_max = op == ScalarOp::kMaximum;
  switch (op) {
    case ScalarOp::kMultiply:
      return b.constant_int(dtype, 1);
    case ScalarOp::kAnd:
      return b.constant_int(dtype, is_bool(dtype) ? 1 : -1);
    case ScalarOp::kMaximum:
    case ScalarOp::kMinimum:
      if (is_float(dtype)) return b.constant(dtype, is_max ? -INFINITY : INFINITY);
      if (is_bool(dtype)) return b.constant_int(dtype, is_max ? 0 : 1);
      if (is_unsigned(dtype)) return b.constant_int(dtype, is_max ? 0 : -1);
      return b.constant_int(dtype, is_max ? static_cast<int64_t>(~uint64_t{0} << (type.bits - 1))
                                          : static_cast<int64_t>((uint64_t{1} << (type.bits - 1)) - 1));
    default:
      return b.constant_int(dtype, 0);
  }
}

Accumulator::Accumulator(Step& step, const Op& reduce, int lanes, int chains, bool is_long)
    : step_(step), op_(reduce), chains_(chains), known_(known_op(reduce.region())) {
  INGOT_CHECK(known_ || chains == 1);
  for (size_t i = 0; i < reduce.results.size(); ++i) {
    tiles_.push_back(step.b().tile("acc", dtype(static_cast<int>(i)), lanes, {chains}));
  }
  if (is_long && known_ == ScalarOp::kAdd && is_float(dtype(0)))
    totals_ = step.b().tile("total", dtype(0), lanes, {chains});
}

void Accumulator::start() {
  loops::KernelBuilder& b = step_.b();
  if (known_) {
    b.unrolled("c", chains_, [&](Index c) {
      b.set(tiles_[0], {c}, neutral_element(b, *known_, dtype(0)));
      if (totals_) b.set(*totals_, {c}, neutral_element(b, *known_, dtype(0)));
    });
    return;
  }
  for (int i = 0; i < result_count(); ++i) {
    b.set(tiles_[i], {0}, step_.pull().element(op_.operand(result_count() + i), {}, nullptr));
  }
}

void Accumulator::take(const Index& chain, const std::vector<Index>& index, const Expr& mask) {
  std::vector<Expr> elements;
  for (int i = 0; i < result_count(); ++i) elements.push_back(step_.pull().element(op_.operand(i), index, mask));
  take_values(chain, std::move(elements), mask);
}

void Accumulator::take_values(const Index& chain, std::vector<Expr> elements, const Expr& mask) {
  loops::KernelBuilder& b = step_.b();
  if (known_) {
    Expr element = elements[0];
    if (mask) element = b.apply(ScalarOp::kSelect, {mask, element, neutral_element(b, *known_, dtype(0))});
    b.set(tiles_[0], {chain}, joined(b.read(tiles_[0], {chain}), std::move(element)));
    return;
  }
  std::vector<Expr> arguments;
  for (const loops::TileId tile : tiles_) arguments.push_back(b.let("old", b.read(tile, {chain})));
  arguments.insert(arguments.end(), elements.begin(), elements.end());
  std::vector<Expr> next = run_region(b, op_.region(), arguments);
  // All new values are known before the first register changes.
  for (Expr& value : next) value = b.let("new", value);
  for (int i = 0; i < result_count(); ++i) {
    Expr value = next[i];
    if (mask) value = b.apply(ScalarOp::kSelect, {mask, value, arguments[i]});
    b.set(tiles_[i], {chain}, value);
  }
}

void Accumulator::fold() {
  if (!totals_) return;
  loops::KernelBuilder& b = step_.b();
  b.unrolled("c", chains_, [&](Index c) {
    b.set(*totals_, {c}, joined(b.read(*totals_, {c}), b.read(tiles_[0], {c})));
    b.set(tiles_[0], {c}, neutral_element(b, *known_, dtype(0)));
  });
}

Expr Accumulator::chain_value(const Index& chain) const { return step_.b().read(totals_.value_or(tiles_[0]), {chain}); }

Expr Accumulator::combined(bool across_lanes) {
  loops::KernelBuilder& b = step_.b();
  fold();
  std::vector<Expr> values;
  for (int c = 0; c < chains_; ++c) values.push_back(chain_value(c));
  for (int count = chains_; count > 1; count = (count + 1) / 2) {
    const int half = (count + 1) / 2;
    for (int c = 0; c + half < count; ++c) values[c] = joined(values[c], values[c + half]);
  }
  return across_lanes ? b.reduce(*known_, values[0]) : values[0];
}

Expr Accumulator::result(int i, Expr combined) {
  loops::KernelBuilder& b = step_.b();
  if (!known_) return b.read(tiles_[i], {0});
  return joined(step_.pull().element(op_.operand(1), {}, nullptr), std::move(combined));
}

Expr Accumulator::joined(Expr a, Expr b) const {
  const Expr value = step_.b().apply(*known_, {std::move(a), std::move(b)});
  const DType to = op_.result(0)->type.dtype;
  const bool rounds = *known_ == ScalarOp::kAdd || *known_ == ScalarOp::kMultiply;
  return rounds && dtype(0) != to ? step_.b().round(to, value) : value;
}

}  // namespace ingot::schedule
