#include "aot/schedule/contraction/nibble_rows.h"

#include <cmath>

#include "aot/base/divide.h"
#include "aot/loops/algebra.h"

namespace ingot::schedule {

using loops::BufferId;
using loops::Expr;
using loops::Index;
using loops::Scalar;
using loops::ScalarOp;
using loops::TileId;
using ops::kNibbles;

namespace {

constexpr int64_t kLargest = (127 << 16) + (127 << 8) + 127;  // of three digits
constexpr int kUnits = 22;                                    // bits between a part's largest power of two and its unit
constexpr double kLeast = 0x1p-103;                           // of these powers: units are no denormals
constexpr int64_t kExponent = 0x7F800000;

// Vectors run along the parts.
class Preparation {
 public:
  Preparation(Draft& draft, const NibbleProduct& product)
      : product_(product),
        lanes_(draft.target().lanes(DType::kF32)),
        rows_{.pitch = round_up(product.parts(), lanes_), .factors = {}, .sums = {}, .units = {}},
        step_(draft, lanes_),
        b_(step_.b()),
        point_{product} {}

  NibbleRows emit() {
    add_temporaries();
    step_.read({product_.root->operand(product_.unpack == product_.root->operand(0)->op ? 1 : 0)});
    factors_ = step_.write_temporary(rows_.factors.temporary);
    sums_ = step_.write_temporary(rows_.sums.temporary);
    if (product_.has_digits) units_ = step_.write_temporary(rows_.units.temporary);
    if (product_.has_digits) elements_ = b_.scratch("elements", DType::kF32, product_.part * lanes_);
    b_.loop("row", 0, product_.rows, 1, [&](const Index& row) {
      point_.enter_row(b_, row);
      b_.loop("part", 0, product_.parts(), lanes_, [&](const Index& part) {
        place_ = part + (lanes_ > 1 ? b_.lane() : Index(0));
        mask_ = b_.in_range(place_, 0, product_.parts());
        product_.has_digits ? make_digits(row) : make_floats(row);
      });
    });
    step_.finish();
    return rows_;
  }

 private:
  void add_temporaries() {
    const auto add = [&](DType dtype, int64_t each) {
      return OfParts{step_.draft().add_temporary({dtype, {product_.rows * rows_.pitch * each}}), each};
    };
    const DType dtype = product_.has_digits ? DType::kI32 : DType::kF32;
    rows_.factors = add(dtype, product_.has_digits ? product_.words_of_part() * kHalves * kDigits : product_.part);
    rows_.sums = add(dtype, product_.has_digits ? kDigits : 1);
    if (product_.has_digits) rows_.units = add(DType::kF32, 1);
  }

  TileId tile(const char* name, DType dtype, std::vector<int64_t> dims = {}) {
    return b_.tile(name, dtype, static_cast<int>(lanes_), std::move(dims));
  }
  Scalar read(TileId tile, std::vector<Index> at = {}) { return {b_, b_.read(tile, std::move(at))}; }
  void store(BufferId buffer, const OfParts& of, const Index& row, const Index& k, const Expr& value) {
    b_.store(buffer, rows_.place(of, row, place_, k), value);
  }
  double offset() const { return product_.has_zeros() ? 1 : static_cast<double>(-ops::kNibbleOffset); }

  // Element `k` of each part.
  Scalar element(const Index& k) {
    Pull::Scope scope(step_.pull());
    point_.at[product_.depth_dim] = place_ * product_.part + k;
    const Expr x = step_.pull().element(product_.rows_side.value, point_.index(product_.rows_side.accesses), mask_);
    return {b_, b_.let("x", mask_ ? b_.apply(ScalarOp::kSelect, {mask_, x, b_.constant(DType::kF32, 0)}) : x)};
  }

  void make_floats(const Index& row) {
    const TileId sum = tile("sum", DType::kF32);
    b_.set(sum, {}, b_.constant(DType::kF32, 0));
    b_.loop("word", 0, product_.words_of_part(), 1, [&](const Index& word) {
      for (int64_t n = 0; n < kNibbles; ++n) {
        const Index k = word * kNibbles + n;
        const Scalar x = element(k);
        b_.set(sum, {}, read(sum) + x);
        store(factors_, rows_.factors, row, k, n + 1 == kNibbles ? x : x * std::ldexp(1.0, static_cast<int>(-4 * n)));
      }
    });
    store(sums_, rows_.sums, row, 0, read(sum) * offset());
  }

  void make_digits(const Index& row) {
    const TileId most = tile("most", DType::kF32), sums = tile("sums", DType::kI32, {kDigits});
    b_.set(most, {}, b_.constant(DType::kF32, 0));
    b_.loop("k", 0, product_.part, 1, [&](const Index& k) {
      const Scalar x = element(k);
      b_.store(elements_, k * lanes_ + (place_ - place_.without(loops::kLaneVar)), x);
      b_.set(most, {}, maximum(read(most), abs(x)));
    });
    // The power of two below what is as much larger than the largest as three digits have less than 2^23.
    const double margin = std::ldexp(1, 23) / static_cast<double>(kLargest) * (1 + std::ldexp(1, -20));
    const Scalar bound = maximum(read(most) * margin, read(most).like(kLeast));
    const Scalar power(b_, b_.let("power", (bound.bitcast(DType::kI32) & kExponent).bitcast(DType::kF32)));
    const Scalar inverse(b_, b_.let("inverse", std::ldexp(1, kUnits) / power));
    store(units_, rows_.units, row, 0, power * std::ldexp(1, -kUnits));
    b_.unrolled("d", kDigits, [&](const Index& d) { b_.set(sums, {d}, b_.constant_int(DType::kI32, 0)); });
    b_.loop("word", 0, product_.words_of_part(), 1, [&](const Index& word) { make_words(row, word, inverse, sums); });
    b_.unrolled("d", kDigits, [&](const Index& d) { store(sums_, rows_.sums, row, d, read(sums, {d}) * offset()); });
  }

  // Bytes as they stand for digits 128 more, until all four of a word are there.
  void make_words(const Index& row, const Index& word, const Scalar& inverse, TileId sums) {
    const Scalar more = Scalar(b_, b_.constant_int(DType::kI32, 0x808080)), sign = more.like(-0x7F7F7F80);
    for (int64_t half = 0; half < kHalves; ++half) {
      std::vector<Scalar> words(kDigits, more.like(0));
      for (int64_t byte = 0; byte < kNibbles / kHalves; ++byte) {
        const Index k = word * kNibbles + (byte * kHalves + half);
        const Scalar x(b_, b_.load(elements_, k * lanes_ + (place_ - place_.without(loops::kLaneVar))));
        const Scalar digits(b_, b_.let("digits", round_even(x * inverse).convert(DType::kI32) + more));
        for (int64_t d = 0; d < kDigits; ++d)
          words[d] = words[d] | ((digits >> static_cast<double>(8 * d)) & 255) << static_cast<double>(8 * byte);
      }
      for (int64_t d = 0; d < kDigits; ++d) {
        const Scalar digit(b_, b_.let("word", words[d] ^ sign));
        b_.set(sums, {d}, b_.apply(ScalarOp::kDotBytes, {digit.like(0x01010101), digit, b_.read(sums, {d})}));
        store(factors_, rows_.factors, row, (word * kHalves + half) * kDigits + d, digit);
      }
    }
  }

  const NibbleProduct& product_;
  int lanes_;
  NibbleRows rows_;
  Step step_;
  loops::KernelBuilder& b_;
  NibblePoint point_;
  BufferId factors_ = -1, sums_ = -1, units_ = -1, elements_ = -1;
  Index place_;  // of the parts that are made
  Expr mask_;
};

}  // namespace

NibbleRows prepare_nibble_rows(Draft& draft, const NibbleProduct& product) {
  return Preparation(draft, product).emit();
}

}  // namespace ingot::schedule
