// sort: each row by a bottom-up merge sort, the comparator's region in line. Rows are independent; so are runs within a
// row and pairs of runs to merge, and these fill the lanes of vectors.
//
//   short rows  each lane sorts a row of its own in registers, by exchanging neighbours
//   long rows   runs of kRun elements are sorted so; then runs are merged pair by pair, level by level, between the two
//               halves of a scratch buffer. Each lane has a row of its own, where there are several that fit the cache;
//               or else a run and a pair, while there are pairs enough, and then they are merged one by one
//
// An exchange of neighbours when the second comes before the first is stable, and so is a merge that prefers the left
// run. Each level moves every element exactly once, whatever the comparator says: nothing is lost.
#include "aot/ops/support/sort.h"

#include <algorithm>
#include <optional>

#include "aot/base/divide.h"
#include "aot/ops/ops.h"
#include "aot/ops/support/index.h"
#include "aot/schedule/sweep.h"
#include "aot/schedule/templates.h"

namespace ingot::schedule {
namespace {

using loops::BufferId;
using loops::Expr;
using loops::Index;
using loops::ScalarOp;
using loops::TileId;

constexpr int64_t kShortRow = 16;               // a row that is sorted in registers
constexpr int64_t kRun = 8;                     // likewise the beginning of a long one
constexpr int kPairShift = 4;                   // log2 of the elements of the first pairs
constexpr int64_t kMinPairsForVectorMerge = 3;  // fewer are merged one by one

static_assert(1 << kPairShift == 2 * kRun);

// What the lanes of vectors have of their own.
enum class Lanes : uint8_t { kNothing, kPair, kRow };

// What is moved together: an element of each carried value.
using Record = std::vector<Expr>;

class Sort {
 public:
  Sort(Draft& draft, const Op& root)
      : draft_(draft),
        root_(root),
        shape_(root.operand(0)->type.shape),
        dimension_(static_cast<int>(ops::sort_dimension(root))),
        extent_(shape_[dimension_]),
        rows_shape_(ops::extents(shape_, ops::other_dims(static_cast<int>(shape_.size()), {dimension_}))),
        position_(extent_ < (int64_t{1} << 26) ? DType::kI32 : DType::kI64),
        carried_(choose_carried()),
        step_(draft, lanes()) {
    step_.read(root.operands);
    step_.write(wanted_results(), is_indirect_ ? std::set<const Value*>() : read_in_place(draft, root.operands));
  }

  void build() {
    loops::KernelBuilder& b = step_.b();
    if (element_count(shape_) == 0) {
      b.set_task_count(0);
    } else if (extent_ <= kShortRow) {
      build_short_rows();
    } else {
      build_long_rows();
    }
    step_.finish();
  }

 private:
  const loops::Machine& machine() const { return draft_.target().machine; }

  // --- what is moved ---

  bool is_compared(int k) const {
    const Block& comparator = root_.region();
    return !comparator.argument(2 * k)->uses.empty() || !comparator.argument(2 * k + 1)->uses.empty();
  }

  // The operands that every step moves: what is compared or wanted. If several are not compared, it moves positions
  // instead of those, which are read once, at the end.
  std::vector<int> choose_carried() {
    std::vector<int> compared, all;
    for (int k = 0; k < static_cast<int>(root_.operands.size()); ++k) {
      if (is_compared(k)) compared.push_back(k);
      if (is_compared(k) || !root_.result(k)->uses.empty()) all.push_back(k);
    }
    is_indirect_ = extent_ > kShortRow && all.size() > compared.size() + 1;
    return is_indirect_ ? compared : all;
  }

  // Where a record has the element of operand k, if it does.
  std::optional<size_t> place_in_record(int k) const {
    const auto found = std::ranges::find(carried_, k);
    if (found == carried_.end()) return std::nullopt;
    return found - carried_.begin();
  }

  DType dtype(int k) const { return loops::register_dtype(root_.operand(k)->type.dtype); }

  // Positions are vectors too.
  int lanes() const {
    int widest_bytes = info(position_).bytes;
    for (const int k : carried_) widest_bytes = std::max(widest_bytes, info(dtype(k)).bytes);
    return draft_.target().vector_bytes / widest_bytes;
  }

  Values wanted_results() const {
    Values results;
    for (const auto& result : root_.results) {
      if (!result->uses.empty()) results.push_back(result.get());
    }
    return results;
  }

  std::vector<Index> in_row(std::vector<Index> row, const Index& position) const {
    row.insert(row.begin() + dimension_, position);
    return row;
  }

  Record read(const std::vector<Index>& row, const Index& position, const Expr& mask) {
    Record record;
    for (const int k : carried_) {
      record.push_back(step_.b().let("x", step_.pull().element(root_.operand(k), in_row(row, position), mask)));
    }
    if (is_indirect_) record.push_back(step_.b().index_value(position, position_));
    return record;
  }

  // --- order ---

  Expr comes_before(const Record& x, const Record& y) {
    loops::KernelBuilder& b = step_.b();
    std::vector<Expr> arguments;
    for (int k = 0; k < static_cast<int>(root_.operands.size()); ++k) {
      const std::optional<size_t> at = place_in_record(k);
      for (const Record& record : {x, y}) arguments.push_back(at ? record[*at] : b.constant_int(dtype(k), 0));
    }
    return run_region(b, root_.region(), arguments)[0];
  }

  // Odd-even transposition: n rounds of exchanges between neighbours. `exists[i]` says whether there is an element i;
  // those that are missing are at the end.
  void sort_in_registers(std::vector<Record>& run, const std::vector<Expr>& exists) {
    loops::KernelBuilder& b = step_.b();
    for (size_t round = 0; round < run.size(); ++round) {
      for (size_t i = round % 2; i + 1 < run.size(); i += 2) {
        const Expr swap = b.let("swap", b.both(exists[i + 1], comes_before(run[i + 1], run[i])));
        for (size_t c = 0; c < run[i].size(); ++c) {
          const Expr x = run[i][c], y = run[i + 1][c];
          run[i][c] = b.let("x", b.apply(ScalarOp::kSelect, {swap, y, x}));
          run[i + 1][c] = b.let("y", b.apply(ScalarOp::kSelect, {swap, x, y}));
        }
      }
    }
  }

  // --- short rows ---

  // How many of the rows' innermost dimensions may be walked as one: whatever an operand is made of is addressed
  // through its flat index, or depends on the position in the row alone.
  int merged_rows() const {
    const auto is_position = [&](const Op* op) {
      return op && op->is(kIota) && op->attrs().integer("iota_dimension") == dimension_;
    };
    const int all = static_cast<int>(long_dims(shape_).size());
    for (const Value* operand : root_.operands) {
      if (merged_dims(draft_, operand) < all && !is_position(operand->op)) return 1;
    }
    const Shape inner(shape_.begin() + dimension_ + 1, shape_.end());
    const auto after = static_cast<int>(long_dims(inner).size());
    return after > 0 ? after : static_cast<int>(long_dims(rows_shape_).size());
  }

  void build_short_rows() {
    constexpr double kFlopsPerExchange = 3;
    const double exchanges = static_cast<double>(element_count(shape_) * extent_) / 2;
    const auto body = [&](const std::vector<Index>& row, const Expr& mask) {
      std::vector<Record> run;
      for (int64_t i = 0; i < extent_; ++i) run.push_back(read(row, i, mask));
      sort_in_registers(run, std::vector<Expr>(run.size()));
      for (const Value* result : wanted_results()) {
        const size_t at = *place_in_record(result->index);
        for (int64_t i = 0; i < extent_; ++i) step_.store(result, in_row(row, i), run[i][at], mask);
      }
    };
    sweep(step_, {.shape = rows_shape_, .merged = merged_rows()},
          wanted_tasks(draft_, exchanges * kFlopsPerExchange * machine().flop_ns), body);
  }

  // --- long rows ---

  int64_t runs() const { return divide_up(extent_, kRun); }

  int levels() const {
    int count = 0;
    while (runs() > int64_t{1} << count) ++count;
    return count;
  }

  // From the first one on.
  int levels_of_many_pairs() const {
    int count = 0;
    while (count < levels() && runs() >> (count + 1) >= kMinPairsForVectorMerge) ++count;
    return count;
  }

  // Rows that are walked as one: how many lanes may have one of their own.
  int64_t adjacent_rows() const {
    const std::vector<int> dims = long_dims(rows_shape_);
    int64_t count = 1;
    for (int t = 0; t < std::min<int>(merged_rows(), static_cast<int>(dims.size())); ++t) {
      count *= rows_shape_[dims[dims.size() - 1 - t]];
    }
    return count;
  }

  void build_long_rows() {
    constexpr double kFlopsPerMove = 100;  // by a comparison that cannot be foreseen
    loops::KernelBuilder& b = step_.b();
    const int64_t lanes = b.vector_lanes();
    std::vector<DType> dtypes;
    for (const int k : carried_) dtypes.push_back(dtype(k));
    if (is_indirect_) dtypes.push_back(position_);
    int64_t record_bytes = 0;
    for (const DType held : dtypes) record_bytes += info(held).bytes;

    const int64_t rows_bytes = 2 * (extent_ + kRun) * lanes * record_bytes;
    lanes_ = 2 * adjacent_rows() > lanes && rows_bytes <= 4 * machine().l2_bytes ? Lanes::kRow : Lanes::kPair;
    if (lanes == 1) lanes_ = Lanes::kNothing;
    const int64_t group = kRun * (lanes_ == Lanes::kPair ? lanes : 1);
    padded_ = round_up(extent_, group);
    for (const DType held : dtypes) {
      scratch_.push_back(b.scratch("sorted", held, (2 * padded_ + 1) * (lanes_ == Lanes::kRow ? lanes : 1)));
    }
    const auto body = [&](const std::vector<Index>& row, const Expr& mask) {
      sort_runs(row, mask);
      const int in_lanes = lanes_ == Lanes::kPair ? levels_of_many_pairs() : levels();
      b.loop("level", 0, in_lanes, 1, [&](Index level) { merge_pairs(level, lanes_); });
      b.loop("level", in_lanes, levels(), 1, [&](Index level) { merge_pairs(level, Lanes::kNothing); });
      write_row(row, mask);
    };
    const double moves = static_cast<double>(element_count(shape_)) * (levels() + 1);
    const int64_t wanted = wanted_tasks(draft_, moves * kFlopsPerMove * machine().flop_ns);
    if (lanes_ == Lanes::kRow) return sweep(step_, {.shape = rows_shape_, .merged = merged_rows()}, wanted, body);
    for_each_unit(b, "row", element_count(rows_shape_), wanted,
                  [&](const Index& row) { body(loops::unflatten(b, row, rows_shape_), nullptr); });
  }

  // Where the scratch has what stands at a position of the row: rows in lanes lie side by side.
  Index place(const Index& position) {
    return lanes_ == Lanes::kRow ? position * step_.b().vector_lanes() + step_.b().lane() : position;
  }

  // The first half of the scratch becomes sorted runs.
  void sort_runs(const std::vector<Index>& row, const Expr& mask) {
    loops::KernelBuilder& b = step_.b();
    const bool runs_in_lanes = lanes_ == Lanes::kPair;
    const int64_t group = kRun * (runs_in_lanes ? b.vector_lanes() : 1), whole = extent_ / group;
    const auto sort_group = [&](const Index& g) {
      Pull::Scope scope(step_.pull());
      const Index first = runs_in_lanes ? g * group + b.lane() * kRun : g * group;
      std::vector<Record> run;
      std::vector<Expr> exists;
      for (int64_t i = 0; i < kRun; ++i) {
        exists.push_back(b.in_range(first + i, 0, extent_));
        run.push_back(read(row, first + i, b.both(mask, exists.back())));
      }
      sort_in_registers(run, exists);
      for (int64_t i = 0; i < kRun; ++i) {
        for (size_t c = 0; c < scratch_.size(); ++c) b.store(scratch_[c], place(first + i), run[i][c]);
      }
    };
    b.loop("group", 0, whole, 1, sort_group);
    if (whole * group < extent_) sort_group(whole);
  }

  Record load(const Index& at) {
    Record record;
    for (const BufferId buffer : scratch_) record.push_back(step_.b().let("x", step_.b().load(buffer, place(at))));
    return record;
  }

  Expr minimum(const Expr& a, int64_t b) {
    return step_.b().apply(ScalarOp::kMinimum, {a, step_.b().constant_int(position_, b)});
  }
  Expr value(const Index& index) { return step_.b().index_value(index, position_); }
  Index position(const std::string& name, const Expr& value) { return step_.b().let_index(name, value, 0, extent_); }

  // Merges pairs of runs of kRun << level elements from one half of the scratch into the other.
  void merge_pairs(const Index& level, Lanes lanes) {
    loops::KernelBuilder& b = step_.b();
    const auto integer = [&](int64_t i) { return b.constant_int(position_, i); };
    const Index width = position("width", b.apply(ScalarOp::kShiftLeft, {integer(kRun), value(level)}));
    const Expr parity = b.apply(ScalarOp::kAnd, {value(level), integer(1)});
    const Index from = b.let_index("from", b.apply(ScalarOp::kMultiply, {parity, integer(padded_)}), 0, padded_);
    const Expr shift = value(level + kPairShift);
    const Expr filled = value(Index(extent_ - 1) + width * 2);
    const Index pairs = position("pairs", b.apply(ScalarOp::kShiftRightLogical, {filled, shift}));
    const bool has_pairs = lanes == Lanes::kPair;
    b.loop("pair", 0, pairs, has_pairs ? b.vector_lanes() : 1, [&](const Index& pair) {
      const Expr start = value(has_pairs ? pair + b.lane() : pair);
      const Index low = position("low", minimum(b.apply(ScalarOp::kShiftLeft, {start, shift}), extent_));
      const Index middle = position("middle", minimum(value(low + width), extent_));
      const Index high = position("high", minimum(value(low + width * 2), extent_));
      merge(from, low, middle, high, width * 2, lanes);
    });
  }

  // Merges low .. middle with middle .. high. Pairs in lanes all take as many steps as the longest may have, and what a
  // finished one gives goes to the last element of the scratch, which nobody reads.
  void merge(const Index& from, const Index& low, const Index& middle, const Index& high, const Index& longest,
             Lanes lanes) {
    loops::KernelBuilder& b = step_.b();
    const bool has_pairs = lanes == Lanes::kPair;
    const auto less = [&](const Index& x, const Index& y) { return b.apply(ScalarOp::kLess, {value(x), value(y)}); };
    const auto negated = [&](const Expr& x) { return b.apply(ScalarOp::kNot, {x}); };
    const auto advance = [&](TileId tile, const Expr& by) {
      b.set(tile, {}, b.apply(ScalarOp::kAdd, {b.read(tile), b.convert(position_, by)}));
    };
    const int width = lanes == Lanes::kNothing ? 1 : b.vector_lanes();
    const TileId left = b.tile("left", position_, width), right = b.tile("right", position_, width);
    b.set(left, {}, value(low));
    b.set(right, {}, value(middle));
    const auto step = [&](const Index& k) {
      // Each advances in a step at most once: i from low to middle, j from middle to high.
      const Index i = b.trusted_index("i", b.read(left), 0, extent_),
                  j = b.trusted_index("j", b.read(right), 0, extent_);
      const Record x = load(from + i), y = load(from + j);
      const Expr has_left = less(i, middle), has_right = less(j, high);
      const Expr is_right =
          b.let("is_right", b.both(has_right, b.apply(ScalarOp::kOr, {negated(has_left), comes_before(y, x)})));
      Index to = place(Index(padded_) - from + low + k);
      Expr is_left = negated(is_right);
      if (has_pairs) {
        const Expr goes_on = b.let("goes_on", less(low + k, high));
        const Expr target = b.apply(ScalarOp::kSelect, {goes_on, value(to), b.constant_int(position_, 2 * padded_)});
        to = b.let_index("to", target, 0, 2 * padded_);
        is_left = b.both(goes_on, is_left);
      }
      for (size_t c = 0; c < scratch_.size(); ++c) {
        b.store(scratch_[c], to, b.apply(ScalarOp::kSelect, {is_right, y[c], x[c]}));
      }
      advance(left, is_left);
      advance(right, is_right);
    };
    b.loop("k", 0, has_pairs ? longest : high - low, 1, step);
  }

  void write_row(const std::vector<Index>& row, const Expr& mask) {
    loops::KernelBuilder& b = step_.b();
    const Index sorted((levels() % 2) * padded_);
    const auto write = [&](const Index& at, const Expr& exists) {
      Pull::Scope scope(step_.pull());
      Index from = at;
      if (is_indirect_) {
        from = b.trusted_index("from", b.load(scratch_.back(), place(sorted + at), exists), 0, extent_ - 1);
      }
      for (const Value* result : wanted_results()) {
        const std::optional<size_t> in_record = place_in_record(result->index);
        const Expr element = in_record ? b.load(scratch_[*in_record], place(sorted + at), exists)
                                       : step_.pull().element(root_.operand(result->index), in_row(row, from), exists);
        step_.store(result, in_row(row, at), element, exists);
      }
    };
    if (lanes_ == Lanes::kRow) return b.loop("i", 0, extent_, 1, [&](const Index& i) { write(i, mask); });
    walk_run(b, 0, extent_, extent_, write);
  }

  Draft& draft_;
  const Op& root_;
  Shape shape_;
  int dimension_;
  int64_t extent_;
  Shape rows_shape_;
  DType position_;
  bool is_indirect_ = false;
  std::vector<int> carried_;
  Step step_;
  Lanes lanes_ = Lanes::kNothing;
  std::vector<BufferId> scratch_;  // in step with a record: two halves, and an element that takes what nobody wants
  int64_t padded_ = 0;             // elements of a half
};

}  // namespace

void lower_sort(Draft& draft, const Op& root) { Sort(draft, root).build(); }

}  // namespace ingot::schedule
