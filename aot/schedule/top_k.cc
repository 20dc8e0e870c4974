// top_k: rows go by, and the k greatest elements so far stay in registers, in order. The lanes of vectors are rows of
// their own; or, where rows are long or few, each takes its part of one row, and their candidates compete at the end.
//
// Elements are ordered by key, then by position: no two are equal, so it does not matter who meets whom first.
#include <algorithm>

#include "aot/loops/algebra.h"
#include "aot/ops/index.h"
#include "aot/ops/total_order.h"
#include "aot/schedule/sweep.h"
#include "aot/schedule/templates.h"

namespace ingot::schedule {
namespace {

using loops::BufferId;
using loops::Expr;
using loops::Index;
using loops::Scalar;
using loops::ScalarOp;
using loops::TileId;

constexpr int64_t kLongRow = 16;  // vectors in a row from which on lanes share it
constexpr DType kPosition = DType::kI32;

// An element: what it is compared by, and where it is in its row.
struct Candidate {
  Expr key, position;
};

class TopK {
 public:
  TopK(Draft& draft, const Op& root)
      : draft_(draft),
        root_(root),
        x_(root.operand(0)),
        extent_(x_->type.shape.back()),
        k_(root.result()->type.shape.back()),
        rows_shape_(x_->type.shape.begin(), x_->type.shape.end() - 1),
        held_(loops::register_dtype(x_->type.dtype)),
        key_(is_float(held_) ? loops::signed_of(held_) : held_),
        step_(draft, draft.target().vector_bytes / std::max(info(held_).bytes, info(kPosition).bytes)) {
    step_.read({root.operand(0)});
    Values results;
    for (const auto& result : root.results) {
      if (!result->uses.empty()) results.push_back(result.get());
    }
    step_.write(results);
  }

  void build() {
    const int64_t rows = element_count(rows_shape_), lanes = step_.b().vector_lanes();
    if (rows == 0 || k_ == 0) {
      step_.b().set_task_count(0);
    } else if (lanes > 1 && (extent_ >= kLongRow * lanes || (extent_ >= 2 * lanes && rows < lanes / 2))) {
      build_long_rows(rows);
    } else {
      build_rows_in_lanes();
    }
    step_.finish();
  }

 private:
  // The best so far, in order.
  struct Slots {
    TileId keys, positions;
  };

  double work_ns() const {
    constexpr double kNsPerElement = 0.5;
    return static_cast<double>(x_->type.elements()) * kNsPerElement;
  }

  // --- candidates ---

  Expr to_key(const Expr& x) {
    if (!is_float(held_)) return x;
    return ops::total_order_key(Scalar(step_.b(), x).bitcast(key_));
  }
  Expr from_key(const Expr& key) {
    if (!is_float(held_)) return key;
    return Scalar(ops::total_order_key(Scalar(step_.b(), key))).bitcast(held_);
  }

  // Loses against every element.
  Candidate nobody() {
    loops::KernelBuilder& b = step_.b();
    const bool has_sign = !is_unsigned(key_) && !is_bool(key_);
    const int bits = info(key_).bits;
    return {b.constant_int(key_, has_sign ? static_cast<int64_t>(~uint64_t{0} << (bits - 1)) : 0),
            b.constant_int(kPosition, extent_)};
  }

  // The element of the row; nobody where `exists` (null: everywhere) is false.
  Candidate candidate(const std::vector<Index>& row, const Index& position, const Expr& exists, const Expr& mask) {
    loops::KernelBuilder& b = step_.b();
    std::vector<Index> at = row;
    at.push_back(position);
    Candidate made{to_key(step_.pull().element(x_, at, b.both(mask, exists))), b.index_value(position, kPosition)};
    if (exists) {
      made.key = b.apply(ScalarOp::kSelect, {exists, made.key, nobody().key});
      made.position = b.apply(ScalarOp::kSelect, {exists, made.position, nobody().position});
    }
    return {b.let("key", made.key), b.let("position", made.position)};
  }

  Expr beats(const Candidate& x, const Candidate& y) {
    const Scalar x_key(step_.b(), x.key), y_key(step_.b(), y.key), x_at(step_.b(), x.position),
        y_at(step_.b(), y.position);
    return (x_key > y_key) | (equal(x_key, y_key) & (x_at < y_at));
  }

  // --- slots ---

  Slots make_slots(int lanes) {
    loops::KernelBuilder& b = step_.b();
    return {b.tile("keys", key_, lanes, {k_}), b.tile("positions", kPosition, lanes, {k_})};
  }

  void clear(const Slots& slots) {
    for (int64_t s = 0; s < k_; ++s) put(slots, s, nobody());
  }

  Candidate at(const Slots& slots, int64_t s) {
    return {step_.b().read(slots.keys, {s}), step_.b().read(slots.positions, {s})};
  }

  void put(const Slots& slots, int64_t s, const Candidate& value) {
    step_.b().set(slots.keys, {s}, value.key);
    step_.b().set(slots.positions, {s}, value.position);
  }

  // The new one goes down the slots: where it wins it stays, and who was there goes on.
  void insert(const Slots& slots, Candidate goes_on) {
    loops::KernelBuilder& b = step_.b();
    for (int64_t s = 0; s < k_; ++s) {
      const Candidate here = at(slots, s);
      const Expr wins = b.let("wins", beats(goes_on, here));
      const auto choose = [&](const Expr& x, const Expr& y) { return b.apply(ScalarOp::kSelect, {wins, x, y}); };
      const Candidate loser{b.let("key", choose(here.key, goes_on.key)),
                            b.let("position", choose(here.position, goes_on.position))};
      put(slots, s, {choose(goes_on.key, here.key), choose(goes_on.position, here.position)});
      goes_on = loser;
    }
  }

  void store(const Slots& slots, const std::vector<Index>& row, const Expr& mask) {
    std::vector<Index> to = row;
    to.emplace_back();
    for (int64_t s = 0; s < k_; ++s) {
      to.back() = s;
      const Candidate best = at(slots, s);
      if (!root_.result(0)->uses.empty()) step_.store(root_.result(0), to, from_key(best.key), mask);
      if (!root_.result(1)->uses.empty()) step_.store(root_.result(1), to, best.position, mask);
    }
  }

  // --- rows ---

  void build_rows_in_lanes() {
    const int merged = merged_dims(draft_, x_) == static_cast<int>(long_dims(x_->type.shape).size())
                           ? static_cast<int>(long_dims(rows_shape_).size())
                           : 1;
    const bool is_single = element_count(rows_shape_) == 1;
    const Slots slots = make_slots(is_single ? 1 : step_.b().vector_lanes());
    sweep(step_, {.shape = rows_shape_, .merged = merged}, wanted_tasks(work_ns()),
          [&](const std::vector<Index>& row, const Expr& mask) {
            clear(slots);
            step_.b().loop("i", 0, extent_, 1, [&](const Index& i) {
              Pull::Scope scope(step_.pull());
              insert(slots, candidate(row, i, nullptr, mask));
            });
            store(slots, row, mask);
          });
  }

  void build_long_rows(int64_t rows) {
    loops::KernelBuilder& b = step_.b();
    const int64_t lanes = b.vector_lanes(), whole = extent_ / lanes * lanes;
    const Slots each = make_slots(static_cast<int>(lanes)), best = make_slots(1);
    const BufferId keys = b.scratch("candidates", key_, lanes * k_);
    const BufferId positions = b.scratch("places", kPosition, lanes * k_);
    const TaskSplit split = split_tasks(rows, wanted_tasks(work_ns()));
    b.set_task_count(split.tasks);

    const auto take = [&](const std::vector<Index>& row, const Index& position, const Expr& exists) {
      Pull::Scope scope(step_.pull());
      const Candidate made = candidate(row, position, exists, nullptr);
      // Seldom, once the slots have filled.
      b.if_then(b.reduce(ScalarOp::kOr, beats(made, at(each, k_ - 1))), [&] { insert(each, made); });
    };
    const auto row_body = [&](const Index& number) {
      const std::vector<Index> row = loops::unflatten(b, number, rows_shape_);
      clear(each);
      b.loop("i", 0, whole, lanes, [&](const Index& i) { take(row, i + b.lane(), nullptr); });
      const Index rest = Index(whole) + b.lane();
      if (whole < extent_) take(row, rest, b.in_range(rest, 0, extent_));
      for (int64_t s = 0; s < k_; ++s) {
        b.store(keys, Index(s * lanes) + b.lane(), at(each, s).key);
        b.store(positions, Index(s * lanes) + b.lane(), at(each, s).position);
      }
      clear(best);
      b.loop("candidate", 0, lanes * k_, 1, [&](const Index& i) {
        const Candidate made{b.let("key", b.load(keys, i)), b.let("position", b.load(positions, i))};
        b.if_then(beats(made, at(best, k_ - 1)), [&] { insert(best, made); });
      });
      store(best, row, nullptr);
    };
    const Index first = b.task() * split.each;
    b.loop("row", first, first + split.each, 1, row_body, {Index(rows)});
  }

  Draft& draft_;
  const Op& root_;
  Value* x_;
  int64_t extent_, k_;
  Shape rows_shape_;
  DType held_, key_;
  Step step_;
};

}  // namespace

void lower_top_k(Draft& draft, const Op& root) { TopK(draft, root).build(); }

}  // namespace ingot::schedule
