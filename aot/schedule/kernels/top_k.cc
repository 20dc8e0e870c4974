// top_k: a row goes by, and the k greatest elements so far are kept in order.
//
//   in lanes    each lane has a row of its own, and what is kept is in registers: for many rows and a small k
//   one by one  lanes look for elements of one row that beat the last one that is kept; these, soon few, are put in
//               their place in scratch, where all behind it move on by one
#include <algorithm>

#include "aot/base/divide.h"
#include "aot/loops/algebra.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/total_order.h"
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

constexpr int64_t kInLanesMax = 16;  // elements that are kept in registers
constexpr int64_t kLongRow = 16;     // vectors in a row from which on lanes share it
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
        register_dtype_(loops::register_dtype(x_->type.dtype)),
        key_(is_float(register_dtype_) ? loops::signed_of(register_dtype_) : register_dtype_),
        step_(draft, draft.target().vector_bytes / std::max(info(register_dtype_).bytes, info(kPosition).bytes)) {
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
    } else if (k_ > kInLanesMax || extent_ >= kLongRow * lanes || (extent_ >= 2 * lanes && rows < lanes / 2)) {
      build_one_by_one(rows);
    } else {
      build_in_lanes();
    }
    step_.finish();
  }

 private:
  double work_ns() const {
    constexpr double kFlopsPerElement = 16;
    return draft_.target().machine.flop_ns * kFlopsPerElement * static_cast<double>(x_->type.elements());
  }

  // --- candidates ---

  Expr to_key(const Expr& x) {
    if (!is_float(register_dtype_)) return x;
    return ops::total_order_key(Scalar(step_.b(), x).bitcast(key_));
  }
  Expr from_key(const Expr& key) {
    if (!is_float(register_dtype_)) return key;
    return Scalar(ops::total_order_key(Scalar(step_.b(), key))).bitcast(register_dtype_);
  }

  Expr least_key() {
    const bool has_sign = !is_unsigned(key_) && !is_bool(key_);
    return step_.b().constant_int(key_, has_sign ? static_cast<int64_t>(~uint64_t{0} << (info(key_).bits - 1)) : 0);
  }
  Expr greatest_key() { return step_.b().apply(ScalarOp::kNot, {least_key()}); }

  Expr key_at(const std::vector<Index>& row, const Index& position, const Expr& mask) {
    std::vector<Index> at = row;
    at.push_back(position);
    return step_.b().let("key", to_key(step_.pull().element(x_, at, mask)));
  }

  void store(const std::vector<Index>& row, const Index& slot, const Candidate& kept, const Expr& mask) {
    std::vector<Index> to = row;
    to.push_back(slot);
    if (!root_.result(0)->uses.empty()) step_.store(root_.result(0), to, from_key(kept.key), mask);
    if (!root_.result(1)->uses.empty()) step_.store(root_.result(1), to, kept.position, mask);
  }

  // --- in lanes ---

  // By key, then by position: no two are equal. What is not there yet is behind all.
  Expr beats(const Candidate& x, const Candidate& y) {
    const Scalar x_key(step_.b(), x.key), y_key(step_.b(), y.key);
    const Scalar x_at(step_.b(), x.position), y_at(step_.b(), y.position);
    return (x_key > y_key) | (equal(x_key, y_key) & (x_at < y_at));
  }

  void build_in_lanes() {
    loops::KernelBuilder& b = step_.b();
    const bool flattens = merged_dims(draft_, x_) == static_cast<int>(long_dims(x_->type.shape).size());
    const int merged = flattens ? static_cast<int>(long_dims(rows_shape_).size()) : 1;
    const int lanes = element_count(rows_shape_) == 1 ? 1 : b.vector_lanes();
    const TileId keys = b.tile("keys", key_, lanes, {k_}), positions = b.tile("positions", kPosition, lanes, {k_});
    const auto kept = [&](int64_t s) { return Candidate{b.read(keys, {s}), b.read(positions, {s})}; };
    const auto keep = [&](int64_t s, const Candidate& candidate) {
      b.set(keys, {s}, candidate.key);
      b.set(positions, {s}, candidate.position);
    };
    // The new one goes down the slots: where it wins it stays, and the one displaced goes on.
    const auto insert = [&](Candidate displaced) {
      for (int64_t s = 0; s < k_; ++s) {
        const Candidate here = kept(s);
        const Expr wins = b.let("wins", beats(displaced, here));
        const auto choose = [&](const Expr& x, const Expr& y) { return b.apply(ScalarOp::kSelect, {wins, x, y}); };
        const Candidate loser{b.let("key", choose(here.key, displaced.key)),
                              b.let("position", choose(here.position, displaced.position))};
        keep(s, {choose(displaced.key, here.key), choose(displaced.position, here.position)});
        displaced = loser;
      }
    };
    const auto body = [&](const std::vector<Index>& row, const Expr& mask) {
      for (int64_t s = 0; s < k_; ++s) keep(s, {least_key(), b.constant_int(kPosition, extent_)});
      b.loop("i", 0, extent_, 1, [&](const Index& i) {
        Pull::Scope scope(step_.pull());
        insert({key_at(row, i, mask), b.index_value(i, kPosition)});
      });
      for (int64_t s = 0; s < k_; ++s) store(row, s, kept(s), mask);
    };
    sweep(step_, {.shape = rows_shape_, .merged = merged}, wanted_tasks(draft_, work_ns()), body);
  }

  // --- one by one ---

  // In scratch, slot s is element lanes + s; before the first is one that nothing beats.
  Index slot(const Index& s) { return s + step_.b().vector_lanes(); }

  void build_one_by_one(int64_t rows) {
    loops::KernelBuilder& b = step_.b();
    const int64_t lanes = b.vector_lanes();
    vectors_ = divide_up(k_, lanes);
    keys_ = b.scratch("keys", key_, (vectors_ + 1) * lanes);
    positions_ = b.scratch("positions", kPosition, (vectors_ + 1) * lanes);
    candidates_ = b.scratch("candidates", key_, lanes);
    for_each_unit(b, "row", rows, wanted_tasks(draft_, work_ns()),
                  [&](const Index& row) { keep_best(loops::unflatten(b, row, rows_shape_)); });
  }

  void keep_best(const std::vector<Index>& row) {
    loops::KernelBuilder& b = step_.b();
    const int64_t lanes = b.vector_lanes(), whole = k_ + (extent_ - k_) / lanes * lanes;
    b.store(keys_, slot(-1), greatest_key());
    b.store(positions_, slot(-1), b.constant_int(kPosition, 0));
    b.loop("i", 0, k_, 1, [&](const Index& i) {
      Pull::Scope scope(step_.pull());
      insert({key_at(row, i, nullptr), b.index_value(i, kPosition)}, i);
    });
    const auto look = [&](const Index& i, const Expr& exists) {
      Pull::Scope scope(step_.pull());
      Expr keys = key_at(row, i + b.lane(), exists);
      if (exists) keys = b.let("key", b.apply(ScalarOp::kSelect, {exists, keys, least_key()}));
      const auto last = [&] { return b.load(keys_, slot(k_ - 1)); };
      b.if_then(b.reduce(ScalarOp::kOr, b.apply(ScalarOp::kGreater, {keys, last()})), [&] {
        b.store(candidates_, b.lane(), keys);
        b.loop("l", 0, lanes, 1, [&](const Index& l) {
          const Expr key = b.let("key", b.load(candidates_, l));
          b.if_then(b.apply(ScalarOp::kGreater, {key, last()}),
                    [&] { insert({key, b.index_value(i + l, kPosition)}, k_); });
        });
      });
    };
    b.loop("i", k_, whole, lanes, [&](const Index& i) { look(i, nullptr); });
    if (whole < extent_) look(whole, b.in_range(Index(whole) + b.lane(), 0, extent_));
    b.loop("s", 0, k_, lanes, [&](const Index& first) {
      const Index s = first + b.lane();
      const Candidate kept{b.load(keys_, slot(s)), b.load(positions_, slot(s))};
      store(row, s, kept, b.in_range(s, 0, k_));
    });
  }

  // Puts the new one behind all of the first `filled` that it does not beat, and moves on those behind it. Elements
  // come in the order of their positions, so that equal ones are in their order.
  void insert(const Candidate& made, const Index& filled) {
    loops::KernelBuilder& b = step_.b();
    const auto choose = [&](const Expr& c, const Expr& x, const Expr& y) {
      return b.apply(ScalarOp::kSelect, {c, x, y});
    };
    const auto stays = [&](const Index& s, const Expr& key) {
      return b.both(b.in_range(filled - s - 1, 0, k_ + 1), b.apply(ScalarOp::kGreaterEqual, {key, made.key}));
    };
    // From the last to the first: each reads what is before it.
    b.loop("v", 0, vectors_, 1, [&](const Index& v) {
      const Index s = Index((vectors_ - 1) * b.vector_lanes()) - v * b.vector_lanes() + b.lane();
      const Expr here = b.let("here", b.load(keys_, slot(s))), before = b.let("before", b.load(keys_, slot(s - 1)));
      const Expr here_at = b.let("here_at", b.load(positions_, slot(s)));
      const Expr before_at = b.let("before_at", b.load(positions_, slot(s - 1)));
      const Expr is_before = b.let("is_before", stays(s, here)), is_next = b.let("is_next", stays(s - 1, before));
      b.store(keys_, slot(s), choose(is_before, here, choose(is_next, made.key, before)));
      b.store(positions_, slot(s), choose(is_before, here_at, choose(is_next, made.position, before_at)));
    });
  }

  Draft& draft_;
  const Op& root_;
  Value* x_;
  int64_t extent_, k_;
  Shape rows_shape_;
  DType register_dtype_, key_;
  Step step_;
  int64_t vectors_ = 0;  // of slots
  BufferId keys_ = -1, positions_ = -1, candidates_ = -1;
};

}  // namespace

void lower_top_k(Draft& draft, const Op& root) { TopK(draft, root).build(); }

}  // namespace ingot::schedule
