#include "aot/schedule/contraction/nibble_tile.h"

#include <cmath>
#include <numeric>

#include "aot/base/divide.h"
#include "aot/loops/algebra.h"
#include "aot/ops/ops.h"
#include "aot/ops/support/nibbles.h"

namespace ingot::schedule {

using loops::Expr;
using loops::Index;
using loops::Scalar;
using loops::ScalarOp;
using ops::kNibbles;

namespace {

class NibbleTile {
 public:
  NibbleTile(ContractionPoint& point, const Tile& tile, const RowsPanel& rows, const ColumnsPanel& columns)
      : b_(point.b()),
        lanes_(point.plan().depth_lanes),
        op_(*point.plan().columns_side.value->op),
        words_(op_.operand(0)->type.shape),
        blocks_(op_.operand(1)->type.shape[1]),
        block_(op_.result()->type.shape[1] / blocks_),
        rows_(rows),
        first_column_(columns.start),
        row_count_(tile.rows.count),
        column_count_(tile.columns),
        nibbles_(std::gcd(kNibbles, block_ / words_.lanes)) {
    for (const Value* operand : op_.operands)
      buffers_.push_back(point.step().input(point.step().draft().kept(operand)));
    sum_ = tile_of("partial", {row_count_, column_count_});
    x_ = tile_of("x", {row_count_, nibbles_});
    whole_ = tile_of("whole", {row_count_});
    block_sum_ = tile_of("block", {row_count_});
  }

  loops::TileId emit() {
    for_each_sum([&](Index r, Index c) { b_.set(sum_, {r, c}, b_.constant(DType::kF32, 0)); });
    b_.loop("group", 0, words_.groups, 1, [&](Index group) {
      for (int64_t lane = 0; lane < words_.lanes; lane += lanes_) {
        const Expr mask = b_.in_range(Index(lane) + b_.lane(), 0, words_.lanes);
        for (int64_t first = 0; first < kNibbles; first += nibbles_) multiply({group, first, lane, mask});
      }
    });
    const loops::TileId sums = b_.tile("sum", DType::kF32, 1, {row_count_, column_count_});
    for_each_sum([&](Index r, Index c) { b_.set(sums, {r, c}, b_.reduce(ScalarOp::kAdd, b_.read(sum_, {r, c}))); });
    return sums;
  }

 private:
  // Nibbles of a vector of words that have one scale.
  struct Part {
    Index group;
    int64_t first, lane;
    Expr mask;
  };

  loops::TileId tile_of(const char* name, std::vector<int64_t> dims) {
    return b_.tile(name, DType::kF32, static_cast<int>(lanes_), std::move(dims));
  }

  void for_each_sum(const std::function<void(Index r, Index c)>& body) {
    b_.unrolled("r", row_count_, [&](Index r) { b_.unrolled("c", column_count_, [&](Index c) { body(r, c); }); });
  }

  Scalar read(loops::TileId tile, std::vector<Index> at) { return {b_, b_.read(tile, std::move(at))}; }

  void multiply(const Part& part) {
    load_rows(part);
    b_.unrolled("c", column_count_, [&](Index c) { multiply_column(part, c); });
  }

  // Rows as nibbles of the part are multiplied by them, and their sums.
  void load_rows(const Part& part) {
    for_each_row(b_, rows_, row_count_, [&](const Index& r, const Index& start) {
      for (int64_t n = 0; n < nibbles_; ++n) {
        const int64_t nibble = part.first + n;
        const Index k = (part.group * kNibbles + nibble) * words_.lanes + part.lane;
        const Scalar x(b_, b_.let("row", b_.load(rows_.buffer, start + k + b_.lane(), part.mask)));
        b_.set(whole_, {r}, n == 0 ? x : read(whole_, {r}) + x);
        b_.set(x_, {r, n}, is_last(nibble) ? x : x * std::ldexp(1.0, static_cast<int>(-4 * nibble)));
      }
      if (!has_zeros()) b_.set(whole_, {r}, read(whole_, {r}) * -ops::kNibbleOffset);
    });
  }

  void multiply_column(const Part& part, const Index& c) {
    const Index column = first_column_ + c;
    const Index stretch = b_.divide(column, words_.beside);
    const Index beside = (stretch * words_.groups + part.group) * words_.beside + column - stretch * words_.beside;
    const Index at = beside * words_.lanes + part.lane + b_.lane();
    const Scalar word(b_, b_.let("word", b_.load(buffers_[0], at, part.mask)));
    const int64_t columns_ahead = kTilesAhead * column_count_;
    if (part.first == 0)
      b_.prefetch(buffers_[0], at.without(loops::kLaneVar) + columns_ahead * words_.groups * words_.lanes);
    const Index block = column * blocks_ + b_.divide((part.group * kNibbles + part.first) * words_.lanes, block_);
    if (part.first == 0) b_.prefetch(buffers_[1], block + columns_ahead * blocks_);
    const auto each_row = [&](const std::function<void(const Index& r)>& body) { b_.unrolled("r", row_count_, body); };
    if (has_zeros()) {
      const Scalar zero = Scalar(b_, b_.load(buffers_[2], block)).convert(DType::kF32);
      const Scalar start(b_, b_.let("zero", b_.splat(-ops::kNibbleOffset - zero, static_cast<int>(lanes_))));
      each_row([&](const Index& r) { b_.set(block_sum_, {r}, read(whole_, {r}) * start); });
    } else {
      each_row([&](const Index& r) { b_.set(block_sum_, {r}, read(whole_, {r})); });
    }
    for (int64_t n = 0; n < nibbles_; ++n) {
      const Scalar digit(b_, b_.let("digit", digit_of(word, part.first + n).convert(DType::kF32)));
      each_row([&](const Index& r) { b_.set(block_sum_, {r}, fma(read(x_, {r, n}), digit, read(block_sum_, {r}))); });
    }
    const Scalar scale(b_, b_.let("scale", b_.splat(b_.load(buffers_[1], block), static_cast<int>(lanes_))));
    each_row([&](const Index& r) { b_.set(sum_, {r, c}, fma(scale, read(block_sum_, {r}), read(sum_, {r, c}))); });
  }

  static bool is_last(int64_t nibble) { return nibble == kNibbles - 1; }

  // Times a power of 16 where it stands; the last one, whose place is that of the sign, is brought down.
  static Scalar digit_of(const Scalar& word, int64_t nibble) {
    return is_last(nibble) ? word >> 28 : word & static_cast<double>(int64_t{15} << (4 * nibble));
  }

  bool has_zeros() const { return buffers_.size() == 3; }

  loops::KernelBuilder& b_;
  int64_t lanes_;
  const Op& op_;
  ops::WordShape words_;
  int64_t blocks_, block_;
  const RowsPanel& rows_;
  Index first_column_;
  int64_t row_count_, column_count_;
  int64_t nibbles_;                       // of a word, in line, that have one scale
  std::vector<loops::BufferId> buffers_;  // words, scales, perhaps zeros
  loops::TileId sum_, x_, whole_, block_sum_;
};

}  // namespace

bool has_nibbles(const ContractionPlan& plan) {
  return plan.columns_are_made && plan.columns_side.value->op->is(kUnpackNibbles);
}

loops::TileId emit_nibble_tile(ContractionPoint& point, const Tile& tile, const RowsPanel& rows,
                               const ColumnsPanel& columns) {
  return NibbleTile(point, tile, rows, columns).emit();
}

}  // namespace ingot::schedule
