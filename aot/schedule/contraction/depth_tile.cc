#include "aot/schedule/contraction/depth_tile.h"

#include "aot/ops/ops.h"

namespace ingot::schedule {

using loops::Expr;
using loops::Index;
using loops::ScalarOp;

namespace {

constexpr int64_t kUnroll = 2;
constexpr int64_t kFewSums = 4;     // that wait for each other
constexpr int64_t kSpelledOut = 8;  // places of an outer dimension of the depth, along which made columns change

class DepthTile {
 public:
  DepthTile(ContractionPoint& point, const Tile& tile, const RowsPanel& rows, const ColumnsPanel& columns)
      : point_(point),
        b_(point.b()),
        plan_(point.plan()),
        dtype_(point.dtype()),
        rows_(rows),
        columns_(columns),
        row_count_(tile.rows.count),
        column_count_(tile.columns),
        chains_(depth_chains(row_count_, column_count_)),
        partial_(b_.tile("partial", point.sum_dtype(), plan_.depth_lanes, {chains_, row_count_, column_count_})),
        column_(b_.tile("column", dtype_, plan_.depth_lanes, {column_count_})) {}

  loops::TileId emit() {
    for_each_sum([&](Index r, Index c) {
      b_.unrolled("u", chains_, [&](Index u) { b_.set(partial_, {u, r, c}, b_.constant_int(point_.sum_dtype(), 0)); });
    });
    if (plan_.columns_are_made) {
      multiply_made(0, 0);
    } else {
      for_each_range(b_, rows_.depth, [&](const Index& offset, const Index& position) {
        multiply_range(offset, position, rows_.depth.back().count);
      });
    }
    const loops::TileId sums = b_.tile("sum", point_.sum_dtype(), 1, {row_count_, column_count_});
    for_each_sum([&](Index r, Index c) { b_.set(sums, {r, c}, b_.reduce(ScalarOp::kAdd, chains_sum(r, c))); });
    return sums;
  }

 private:
  void for_each_sum(const std::function<void(Index r, Index c)>& body) {
    b_.unrolled("r", row_count_, [&](Index r) { b_.unrolled("c", column_count_, [&](Index c) { body(r, c); }); });
  }

  Expr chains_sum(const Index& r, const Index& c) {
    Expr sum = b_.read(partial_, {0, r, c});
    for (int64_t u = 1; u < chains_; ++u) sum = b_.apply(ScalarOp::kAdd, {sum, b_.read(partial_, {u, r, c})});
    return sum;
  }

  Expr vector(loops::BufferId buffer, const Index& start, const Expr& mask) {
    return b_.convert(dtype_, b_.load(buffer, start + b_.lane(), mask));
  }

  // Dimensions of the depth from `at` on, one by one: rows lie in line along all of them.
  void multiply_made(size_t at, const Index& position) {
    const int dim = plan_.depth_dims[at];
    const int64_t extent = plan_.space.dims[dim].extent;
    if (at + 1 == plan_.depth_dims.size()) return multiply_range(position, 0, extent);
    const auto body = [&](const Index& i) {
      point_.set(dim, i);
      multiply_made(at + 1, (position + i) * plan_.space.dims[plan_.depth_dims[at + 1]].extent);
    };
    extent <= kSpelledOut ? b_.unrolled("k", extent, body) : b_.loop("k", 0, extent, 1, body);
  }

  // What a column of a later tile is made of, where that is one tensor.
  void prefetch_column(const Index& c, const Index& k) {
    const Value* value = plan_.columns_side.value;
    while (value->op && value->op->is(kConvert) && !point_.step().draft().kept(value)) value = value->op->operand(0);
    if (!point_.step().draft().kept(value)) return;
    const Index column = columns_.start + c + kTilesAhead * column_count_;
    b_.prefetch(point_.step().input(point_.step().draft().kept(value)), column * plan_.depth.total() + k);
  }

  Expr column(const Index& c, const Index& k, const Expr& mask) {
    if (!plan_.columns_are_made) return vector(columns_.buffer, columns_.start + c * columns_.column_step + k, mask);
    Pull::Scope scope(point_.step().pull());
    prefetch_column(c, k);
    const std::vector<int>& dims = plan_.columns.axes.back().dims;
    if (!dims.empty()) point_.set(dims.back(), columns_.start + c);
    point_.set(plan_.depth_dims.back(), k + b_.lane());
    return point_.element(plan_.columns_side, mask);
  }

  // Of the innermost range, whose rows begin at `offset` and whose first place is `position`.
  void multiply_range(const Index& offset, const Index& position, int64_t count) {
    const int64_t lanes = plan_.depth_lanes, step = kUnroll * lanes;
    const int64_t unrolled = count / step * step, filled = count / lanes * lanes;
    const auto vector_at = [&](const Index& k, const Expr& mask, const Index& chain = 0) {
      multiply(offset + k, position + k, mask, chain);
    };
    b_.loop("k", 0, unrolled, step, [&](Index k) {
      // Apart: neighbours are not loaded in pairs, for which registers would be too few.
      b_.unrolled("u", kUnroll, [&](Index u) { vector_at(k + u * lanes, nullptr, chains_ > 1 ? u : 0); }, true);
    });
    if (unrolled < filled) vector_at(unrolled, nullptr);
    if (filled < count) vector_at(filled, b_.in_range(Index(filled) + b_.lane(), 0, count));
  }

  // A vector of the depth: of rows from `offset` on, of columns from `k` on; `mask`: which of its places there are.
  void multiply(const Index& offset, const Index& k, const Expr& mask, const Index& chain) {
    b_.unrolled("c", column_count_, [&](Index c) { b_.set(column_, {c}, column(c, k, mask)); });
    for_each_row(b_, rows_, row_count_, [&](const Index& r, const Index& start) {
      const Expr row = b_.let("row", vector(rows_.buffer, start + offset, mask));
      b_.unrolled("c", column_count_, [&](Index c) {
        b_.set(partial_, {chain, r, c},
               point_.multiply_add(row, b_.read(column_, {c}), b_.read(partial_, {chain, r, c})));
      });
    });
  }

  ContractionPoint& point_;
  loops::KernelBuilder& b_;
  const ContractionPlan& plan_;
  DType dtype_;
  const RowsPanel& rows_;
  const ColumnsPanel& columns_;
  int64_t row_count_, column_count_;
  int64_t chains_;  // of sums that are added to in turn
  loops::TileId partial_, column_;
};

}  // namespace

int64_t depth_chains(int64_t rows, int64_t columns) { return rows * columns < kFewSums ? kUnroll : 1; }

loops::TileId emit_depth_tile(ContractionPoint& point, const Tile& tile, const RowsPanel& rows,
                              const ColumnsPanel& columns) {
  return DepthTile(point, tile, rows, columns).emit();
}

}  // namespace ingot::schedule
