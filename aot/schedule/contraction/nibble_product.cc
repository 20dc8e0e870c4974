#include "aot/schedule/contraction/nibble_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "aot/graph/access_map.h"
#include "aot/loops/algebra.h"
#include "aot/ops/ops.h"
#include "aot/schedule/contraction/nibble_rows.h"

namespace ingot::schedule {

using loops::BufferId;
using loops::ContractionDim;
using loops::Expr;
using loops::Index;
using loops::Scalar;
using loops::ScalarOp;
using loops::TileId;
using ops::kNibbleColumns;
using ops::kNibbles;

namespace {

constexpr int64_t kRowsMax = 16;     // from about so many on, columns that are made floats once are as fast
constexpr int64_t kPartMax = 32;     // of the depth
constexpr int64_t kRowsAtOnce = 4;   // whose sums are in registers
constexpr int64_t kVectorsMax = 4;   // of columns, likewise
constexpr int64_t kLinesAhead = 64;  // of words, by which these are fetched before they are multiplied

class Multiplication {
 public:
  Multiplication(Draft& draft, const NibbleProduct& product, const NibbleRows& rows)
      : product_(product),
        lanes_(draft.target().lanes(DType::kF32)),
        vectors_(std::min(kNibbleColumns / lanes_, kVectorsMax)),
        step_(draft, static_cast<int>(lanes_)),
        b_(step_.b()),
        rows_(rows),
        makes_(with_epilogue(draft, {product.root->result()})),
        point_{product} {}

  void emit() {
    Draft& draft = step_.draft();
    const Op& unpack = *product_.unpack;
    step_.read(makes_, {product_.root->operand(unpack.result() == product_.root->operand(0) ? 1 : 0)});
    for (const Value* operand : unpack.operands) weights_.push_back(step_.input(draft.kept(operand)));
    factors_ = step_.read_temporary(rows_.factors.temporary);
    sums_ = step_.read_temporary(rows_.sums.temporary);
    if (product_.has_digits) units_ = step_.read_temporary(rows_.units.temporary);
    step_.write(makes_, read_in_place(draft, makes_));
    double bytes = 0;
    for (const Value* operand : unpack.operands) bytes += static_cast<double>(operand->type.bytes());
    const double work = bytes * draft.target().order().machine.byte_ns * static_cast<double>(product_.rows);
    for_each_unit(b_, "panel", product_.shape.panels, wanted_tasks(draft, work), [&](const Index& panel) {
      b_.loop("column", 0, kNibbleColumns, vectors_ * lanes_, [&](const Index& column) {
        const int64_t whole = product_.rows / kRowsAtOnce * kRowsAtOnce, rest = product_.rows - whole;
        b_.loop("row", 0, whole, kRowsAtOnce, [&](const Index& row) { multiply(panel, column, row, kRowsAtOnce); });
        if (rest > 0) multiply(panel, column, whole, rest);
      });
    });
    step_.finish();
  }

 private:
  // Rows by vectors of columns of a panel.
  struct Place {
    Index panel, column, row;
    int64_t rows;
  };

  void multiply(const Index& panel, const Index& column, const Index& row, int64_t rows) {
    const Place place{panel, column, row, rows};
    const TileId sum = tile("sum", DType::kF32, {rows, vectors_});
    for_each(place, [&](int64_t r, int64_t v) { b_.set(sum, {r, v}, b_.constant(DType::kF32, 0)); });
    b_.loop("part", 0, product_.parts(), 1, [&](const Index& part) {
      product_.has_digits ? add_integers(place, part, sum) : add_floats(place, part, sum);
    });
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t v = 0; v < vectors_; ++v) finish(place, r, v, b_.read(sum, {r, v}));
    }
  }

  // --- sums of a part -------------------------------------------------------------------------------------------------

  void add_integers(const Place& place, const Index& part, TileId sum) {
    const TileId sums = tile("digits", DType::kI32, {place.rows, kDigits, vectors_});
    for_each(place, [&](int64_t r, int64_t v) {
      for (int64_t d = 0; d < kDigits; ++d) b_.set(sums, {r, d, v}, start(place, part, r, v, d));
    });
    for (int64_t word = 0; word < product_.words_of_part(); ++word) {
      for (int64_t v = 0; v < vectors_; ++v) {
        const Scalar w = this->word(place, part, word, v);
        for (int64_t half = 0; half < kHalves; ++half) {
          const Scalar bytes(b_, b_.let("bytes", (half == 0 ? w : w >> 4) & 0x0F0F0F0F));
          for (int64_t r = 0; r < place.rows; ++r) {
            for (int64_t d = 0; d < kDigits; ++d) {
              const Expr digits = factor(place.row + r, part, (word * kHalves + half) * kDigits + d);
              b_.set(sums, {r, d, v}, b_.apply(ScalarOp::kDotBytes, {bytes, digits, b_.read(sums, {r, d, v})}));
            }
          }
        }
      }
    }
    for_each(place, [&](int64_t r, int64_t v) {
      const auto digit = [&](int64_t d) { return Scalar(b_, b_.read(sums, {r, d, v})); };
      const Scalar low = ((digit(1) << 8) + digit(0)).convert(DType::kF32);
      const Scalar all = fma(digit(2).convert(DType::kF32), std::ldexp(1, 16), low);
      add(place, part, sum, r, v, all * splat(of_part(units_, rows_.units, place.row + r, part, 0)));
    });
  }

  void add_floats(const Place& place, const Index& part, TileId sum) {
    const TileId sums = tile("sums", DType::kF32, {place.rows, vectors_});
    for_each(place, [&](int64_t r, int64_t v) { b_.set(sums, {r, v}, start(place, part, r, v, 0)); });
    for (int64_t word = 0; word < product_.words_of_part(); ++word) {
      for (int64_t v = 0; v < vectors_; ++v) {
        const Scalar w = this->word(place, part, word, v);
        for (int64_t n = 0; n < kNibbles; ++n) {
          const Scalar digit(b_, b_.let("digit", digit_of(w, n).convert(DType::kF32)));
          for (int64_t r = 0; r < place.rows; ++r) {
            const Scalar x = splat(factor(place.row + r, part, word * kNibbles + n));
            b_.set(sums, {r, v}, fma(x, digit, Scalar(b_, b_.read(sums, {r, v}))));
          }
        }
      }
    }
    for_each(place, [&](int64_t r, int64_t v) { add(place, part, sum, r, v, {b_, b_.read(sums, {r, v})}); });
  }

  // A part's, scaled, is added to all.
  void add(const Place& place, const Index& part, TileId sum, int64_t r, int64_t v, const Scalar& partial) {
    const Scalar scale(b_, b_.load(weights_[1], block_at(place, part, v)));
    b_.set(sum, {r, v}, fma(partial, scale, Scalar(b_, b_.read(sum, {r, v}))));
  }

  // --- what is read ---------------------------------------------------------------------------------------------------

  // What words stand for is less than their digits by the offset and the zero: so much of the part's sum.
  Expr start(const Place& place, const Index& part, int64_t r, int64_t v, int64_t d) {
    const Scalar sum = splat(of_part(sums_, rows_.sums, place.row + r, part, d));
    if (!product_.has_zeros()) return sum;
    const Scalar zero = Scalar(b_, b_.load(weights_[2], block_at(place, part, v))).convert(sum.dtype());
    return sum * (static_cast<double>(-ops::kNibbleOffset) - zero);
  }

  Expr of_part(BufferId buffer, const OfParts& of, const Index& row, const Index& part, int64_t k) {
    return b_.load(buffer, rows_.place(of, row, part, k));
  }
  Expr factor(const Index& row, const Index& part, int64_t k) { return of_part(factors_, rows_.factors, row, part, k); }

  Scalar word(const Place& place, const Index& part, int64_t word, int64_t v) {
    const Index line = place.panel * product_.shape.words + part * product_.words_of_part() + word;
    const Index at = line * kNibbleColumns + place.column + v * lanes_;
    if (v == 0) b_.prefetch(weights_[0], at + kLinesAhead * kNibbleColumns);
    return {b_, b_.let("word", b_.load(weights_[0], at + lane()))};
  }

  Index block_at(const Place& place, const Index& part, int64_t v) {
    const Index block = b_.divide(part, product_.shape.block() / product_.part);
    return (place.panel * product_.shape.blocks + block) * kNibbleColumns + place.column + v * lanes_ + lane();
  }

  // Times a power of 16 where it stands; the last one, whose place is that of the sign, is brought down.
  static Scalar digit_of(const Scalar& word, int64_t nibble) {
    if (nibble + 1 == kNibbles) return word >> static_cast<double>(4 * nibble);
    return word & static_cast<double>(int64_t{15} << (4 * nibble));
  }

  // --- results --------------------------------------------------------------------------------------------------------

  void finish(const Place& place, int64_t r, int64_t v, const Expr& sum) {
    Pull::Scope scope(step_.pull());
    point_.enter_row(b_, place.row + r);
    const Index column = place.panel * kNibbleColumns + place.column + v * lanes_ + lane();
    point_.at[product_.column_dim] = column;
    step_.pull().answer(product_.root->result(),
                        [value = b_.let("sum", sum)](const auto&, const Expr&) { return value; });
    step_.store_pulled(makes_, point_.index(product_.space.out), b_.in_range(column, 0, product_.columns));
  }

  // --------------------------------------------------------------------------------------------------------------------

  void for_each(const Place& place, const std::function<void(int64_t r, int64_t v)>& body) {
    for (int64_t r = 0; r < place.rows; ++r) {
      for (int64_t v = 0; v < vectors_; ++v) body(r, v);
    }
  }

  TileId tile(const char* name, DType dtype, std::vector<int64_t> dims) {
    return b_.tile(name, dtype, static_cast<int>(lanes_), std::move(dims));
  }
  Scalar splat(const Expr& value) { return {b_, lanes_ > 1 ? b_.splat(value, static_cast<int>(lanes_)) : value}; }
  Index lane() const { return lanes_ > 1 ? b_.lane() : Index(0); }

  const NibbleProduct& product_;
  int64_t lanes_, vectors_;
  Step step_;
  loops::KernelBuilder& b_;
  NibbleRows rows_;
  Values makes_;
  NibblePoint point_;
  std::vector<BufferId> weights_;  // words, scales, perhaps zeros
  BufferId factors_ = -1, sums_ = -1, units_ = -1;
};

// The one dimension of the kind that is longer than 1; -1 where there is none, nullopt where there are several.
std::optional<int> only_dim(const loops::Contraction& space, ContractionDim::Kind kind) {
  int found = -1;
  for (size_t d = 0; d < space.dims.size(); ++d) {
    if (space.dims[d].kind != kind || space.dims[d].extent == 1) continue;
    if (found >= 0) return std::nullopt;
    found = static_cast<int>(d);
  }
  return found;
}

}  // namespace

void NibblePoint::enter_row(loops::KernelBuilder& b, const Index& row) {
  Shape extents;
  for (const int d : product.row_dims) extents.push_back(product.space.dims[d].extent);
  const std::vector<Index> indices = loops::unflatten(b, row, extents);
  for (size_t k = 0; k < indices.size(); ++k) at[product.row_dims[k]] = indices[k];
}

std::vector<Index> NibblePoint::index(const std::vector<AxisMap>& accesses) const {
  std::vector<Index> index;
  for (const AxisMap& axis : accesses) {
    Index place = axis.constant;
    for (size_t d = 0; d < at.size(); ++d) place = place + at[d] * axis.coefficients[d];
    index.push_back(place);
  }
  return index;
}

std::optional<NibbleProduct> nibble_product(const Draft& draft, const Op& root) {
  using Kind = ContractionDim::Kind;
  const auto is_nibbles = [&](int operand) {
    const Value* const value = root.operand(operand);
    return !draft.kept(value) && value->op->is(kUnpackNibbles) &&
           std::ranges::all_of(value->op->operands, [&](const Value* v) { return draft.kept(v) != nullptr; });
  };
  if (!root.is(kDotGeneral) || is_nibbles(0) == is_nibbles(1)) return std::nullopt;
  const int weights = is_nibbles(0) ? 0 : 1;
  const Op& unpack = *root.operand(weights)->op;
  NibbleProduct product{.root = &root,
                        .unpack = &unpack,
                        .shape = {unpack.operand(0)->type.shape, unpack.operand(1)->type.shape},
                        .space = root.def->contraction(root)};
  const auto& [of_rows, of_columns] =
      weights == 1 ? std::pair(product.space.lhs, product.space.rhs) : std::pair(product.space.rhs, product.space.lhs);
  product.rows_side = {root.operand(1 - weights), of_rows};
  const auto depth = only_dim(product.space, Kind::kK), batch = only_dim(product.space, Kind::kBatch),
             column = only_dim(product.space, weights == 1 ? Kind::kN : Kind::kM);
  if (!depth || *depth < 0 || batch != -1 || !column || product.space.accumulate != DType::kF32) return std::nullopt;
  product.depth_dim = *depth;
  product.column_dim = *column;
  product.columns = unpack.result()->type.shape[1];
  for (size_t d = 0; d < product.space.dims.size(); ++d) {
    const auto [kind, extent] = product.space.dims[d];
    if (kind != (weights == 1 ? Kind::kM : Kind::kN) || extent == 1) continue;
    product.row_dims.push_back(static_cast<int>(d));
    product.rows *= extent;
  }
  if (*column < 0 || !follows(of_columns[0], *depth) || product.rows > kRowsMax) return std::nullopt;
  product.part = std::gcd(product.shape.block(), kPartMax);
  product.has_digits = draft.target().order().byte_products == loops::ByteProducts::kAtOnce;
  return product;
}

void lower_nibble_product(Draft& draft, const NibbleProduct& product) {
  draft.note_choice(fmt::format("{} rows of {}, in parts of {}, by {} columns of 4 bits", product.rows,
                                product.has_digits ? "digits" : "floats", product.part, product.columns));
  const NibbleRows rows = prepare_nibble_rows(draft, product);
  Multiplication(draft, product, rows).emit();
}

}  // namespace ingot::schedule
