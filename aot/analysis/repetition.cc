#include "aot/analysis/repetition.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "aot/analysis/stacks.h"
#include "aot/analysis/walk.h"
#include "aot/graph/equal.h"
#include "aot/ops/ops.h"

namespace ingot {
namespace {

using Kind = RepeatedOperand::Kind;

constexpr int kAlikeMax = 16;       // ops with loops of their own, and alike, in one iteration
constexpr int64_t kBeginsMax = 64;  // places of an iteration that are tried as its first

bool has_loops(const Op& op) {
  return op.def->root != KernelRoot::kNone && op.def->root != KernelRoot::kElement &&
         op.def->root != KernelRoot::kControlFlow;
}

bool can_repeat(const Op& op) {
  const auto reads_outside = [](const auto& region) { return !captured_values(*region).empty(); };
  return !op.def->is_terminator && !op.def->has_side_effect && std::ranges::none_of(op.regions, reads_outside);
}

bool is_zero(const Shape& shape) {
  return std::ranges::all_of(shape, [](int64_t extent) { return extent == 0; });
}

// Where a window begins: of a slice in its operand, of a pad in its result; nullopt for others, and for what has gaps.
std::optional<Shape> start_of(const Op& op) {
  const Attrs attrs = op.attrs();
  if (op.is(kSlice)) {
    const auto has_gaps = [](int64_t stride) { return stride != 1; };
    if (std::ranges::any_of(attrs.ints("strides"), has_gaps)) return std::nullopt;
    return attrs.ints("start_indices");
  }
  if (!op.is(kPad) || !is_zero(attrs.ints("interior_padding"))) return std::nullopt;
  const Shape low = attrs.ints("edge_padding_low"), high = attrs.ints("edge_padding_high");
  const auto is_cut = [](int64_t padding) { return padding < 0; };
  return std::ranges::any_of(low, is_cut) || std::ranges::any_of(high, is_cut) ? std::nullopt : std::optional(low);
}

Shape sum_of(Shape a, const Shape& b, int64_t times) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += times * b[i];
  return a;
}

// Of a slice, which may be reshaped.
std::optional<MovingWindow> window_of(const Value* value) {
  const Op* slice = under_reshapes(value)->op;
  if (!slice || !slice->is(kSlice) || !start_of(*slice)) return std::nullopt;
  const Shape& sizes = slice->result()->type.shape;
  return MovingWindow{slice->operand(0), *start_of(*slice), Shape(sizes.size()), sizes};
}

// The ops of a block, each with a number that those have in common which are alike: of windows all that are of one type.
class Sequence {
 public:
  explicit Sequence(const Block& block) {
    std::unordered_multimap<size_t, int64_t> seen;
    for (const auto& op : block.ops) {
      places_[op.get()] = size();
      const size_t hash = hash_of(*op);
      const auto [begin, end] = seen.equal_range(hash);
      const auto found =
          std::find_if(begin, end, [&](const auto& other) { return is_alike(*ops_[other.second], *op); });
      const bool is_new = found == end || !can_repeat(*op);
      kinds_.push_back(is_new ? size() : kinds_[found->second]);
      if (is_new && can_repeat(*op)) seen.emplace(hash, size());
      ops_.push_back(op.get());
    }
  }

  int64_t size() const { return std::ssize(ops_); }
  Op* op(int64_t place) const { return ops_[place]; }
  int64_t kind(int64_t place) const { return kinds_[place]; }
  int64_t place(const Value* value) const {  // of the op that makes it; -1: none of the block
    const auto found = places_.find(value->op);
    return found == places_.end() ? -1 : found->second;
  }
  int64_t next_alike(int64_t place) const {
    const auto found = std::find(kinds_.begin() + place + 1, kinds_.end(), kinds_[place]);
    return found - kinds_.begin();
  }

 private:
  static size_t hash_of(const Op& op) {
    size_t hash = std::hash<const void*>()(op.def);
    const auto mix = [&](const TensorType& type) {
      hash = hash * 31 + static_cast<size_t>(type.dtype);
      for (int64_t extent : type.shape) hash = hash * 31 + static_cast<size_t>(extent);
    };
    for (const Value* operand : op.operands) mix(operand->type);
    for (const auto& result : op.results) mix(result->type);
    return hash;
  }

  static bool is_alike(const Op& a, const Op& b) {
    if (a.def != b.def || !start_of(a) || !start_of(b)) return alike(a, b);
    return a.operand(0)->type == b.operand(0)->type && a.result()->type == b.result()->type;
  }

  std::vector<Op*> ops_;
  std::vector<int64_t> kinds_;
  std::unordered_map<const Op*, int64_t> places_;
};

// Ops each of which is alike to the one `period` behind it.
struct Stretch {
  int64_t begin = 0, end = 0, period = 0;

  int64_t trips() const { return (end - begin) / period; }
};

Stretch stretch_around(const Sequence& sequence, int64_t place, int64_t again) {
  Stretch s{place, again, again - place};
  while (s.begin > 0 && sequence.kind(s.begin - 1) == sequence.kind(s.begin - 1 + s.period)) --s.begin;
  while (s.end < sequence.size() && sequence.kind(s.end) == sequence.kind(s.end - s.period)) ++s.end;
  return s;
}

// A stretch as iterations whose ops read each other alike. Iterations are numbered from the stretch's begin; one in
// the middle says what the others should be.
class Iterations {
 public:
  Iterations(const Sequence& sequence, const Stretch& stretch)
      : sequence_(sequence), begin_(stretch.begin), period_(stretch.period), middle_(stretch.trips() / 2) {
    if (!describe()) return;
    first_ = middle_;
    last_ = middle_ + 1;
    while (first_ > 0 && agrees(first_ - 1) && hands_on(first_ - 1)) --first_;
    while (last_ < stretch.trips() && agrees(last_) && hands_on(last_ - 1)) ++last_;
    while (first_ < last_ && !find_starts()) ++first_;
  }

  int64_t trips() const { return last_ - first_; }
  size_t carried_count() const { return starts_.size(); }
  bool is_worth_it() const {
    const auto moves = [](const RepeatedOperand& operand) { return operand.kind == Kind::kWindow; };
    const auto reads_window = [&](const RepeatedOp& op) {
      return op.window || std::ranges::any_of(op.operands, moves);
    };
    const auto has_own_loops = [](const RepeatedOp& op) { return !op.is_invariant && has_loops(*op.op); };
    return is_recurrence() && std::ranges::any_of(body_, reads_window) && std::ranges::any_of(body_, has_own_loops);
  }

  // Nullopt where a stack of another loop lacks a row that is read.
  std::optional<Repetition> make() {
    Repetition made;
    for (int64_t i = first_; i < last_; ++i) made_.push_back(made_in(i));
    int64_t from = place(first_, 0), to = place(last_, 0);
    from -= add_first();
    to += add_last();
    for (int64_t at = from; at < to; ++at) made.ops.push_back(sequence_.op(at));
    for (const auto& [source, start] : starts_) made.carried.push_back({source.first, source.second, start});
    // Windows start where they do in the iteration that is now the first.
    const int64_t before = middle_ - first_;
    for (RepeatedOp& op : body_) {
      if (op.window) op.window->start = sum_of(op.window->start, op.window->step, -before);
      for (RepeatedOperand& operand : op.operands) {
        MovingWindow& window = operand.window;
        window.start = sum_of(window.start, window.step, -before);
        if (window.source && !take_handed(window)) return std::nullopt;
      }
    }
    made.body = std::move(body_);
    made.made = std::move(made_);
    return made;
  }

 private:
  // Takes rows of what a loop was handed where those of what it handed on do not suffice. False where both are needed.
  bool take_handed(MovingWindow& window) const {
    const std::optional<HandedOn> handed = handed_on(window.source);
    if (!handed) return true;
    const int64_t first = window.start[0], last = first + window.step[0] * (std::ssize(made_) - 1);
    const int64_t rows = window.source->type.shape[0], moved = handed->order == RowOrder::kForward ? 1 : -1;
    const auto [low, high] = std::minmax(first, last);
    window.is_before = moved > 0 ? low < 0 : high >= rows;
    if (!window.is_before) return true;
    window.start[0] += moved;
    return low + moved >= 0 && high + moved < rows;
  }

  // Whether something that an iteration hands on follows from what it was handed.
  bool is_recurrence() const {
    std::vector<bool> follows;
    for (const RepeatedOp& op : body_) {
      follows.push_back(std::ranges::any_of(op.operands, [&](const RepeatedOperand& operand) {
        return operand.kind == Kind::kCarried || (operand.kind == Kind::kWithin && follows[operand.position]);
      }));
    }
    return std::ranges::any_of(starts_, [&](const auto& carried) { return follows[carried.first.first]; });
  }

  using Source = std::pair<int, int>;  // a position, and which of its results

  int64_t place(int64_t iteration, int64_t position) const { return begin_ + iteration * period_ + position; }
  Op* op(int64_t iteration, int64_t position) const { return sequence_.op(place(iteration, position)); }

  std::vector<Values> made_in(int64_t iteration) const {
    std::vector<Values> made;
    for (int64_t q = 0; q < period_; ++q) made.push_back(results_of(*op(iteration, q)));
    return made;
  }

  bool describe() {
    for (int64_t q = 0; q < period_; ++q) {
      Op* here = op(middle_, q);
      const Op* next = op(middle_ + 1, q);
      RepeatedOp repeated{.op = here};
      for (int j = 0; j < std::ssize(here->operands); ++j) {
        std::optional<RepeatedOperand> operand = describe(here->operand(j), next->operand(j), q);
        if (!operand) return false;
        repeated.operands.push_back(std::move(*operand));
      }
      if (start_of(*here) != start_of(*next)) {
        const Value* window = here->is(kPad) ? here->operand(0) : here->result();
        repeated.window = {.start = *start_of(*here), .sizes = window->type.shape};
        repeated.window->step = sum_of(*start_of(*next), *start_of(*here), -1);
      }
      repeated.is_invariant =
          !repeated.window && std::ranges::all_of(repeated.operands, [&](const RepeatedOperand& operand) {
            return operand.kind == Kind::kOutside ||
                   (operand.kind == Kind::kWithin && body_[operand.position].is_invariant);
          });
      const bool is_slice = repeated.window && here->is(kSlice) && repeated.operands[0].kind == Kind::kOutside;
      const auto is_of_view = [&](const RepeatedOperand& x) {
        return x.kind == Kind::kWithin && body_[x.position].is_view;
      };
      repeated.is_view = is_slice || (here->is(kReshape) && is_of_view(repeated.operands[0]));
      body_.push_back(std::move(repeated));
    }
    return true;
  }

  std::optional<RepeatedOperand> describe(Value* value, const Value* next, int64_t position) const {
    const int64_t made_at = sequence_.place(value);
    const int64_t distance = made_at - place(middle_, 0);
    const int result = value->op ? value->index : 0;
    if (made_at >= 0 && distance >= 0 && distance < position) {
      return RepeatedOperand{.kind = Kind::kWithin, .position = static_cast<int>(distance), .result = result};
    }
    if (made_at >= 0 && distance >= -period_ && distance < 0) {
      return RepeatedOperand{
          .kind = Kind::kCarried, .position = static_cast<int>(distance + period_), .result = result};
    }
    if (value == next) return RepeatedOperand{.kind = Kind::kOutside, .value = value};
    std::optional<MovingWindow> here = window_of(value);
    const std::optional<MovingWindow> there = window_of(next);
    if (!here || !there || here->source != there->source || here->sizes != there->sizes) return std::nullopt;
    here->step = sum_of(there->start, here->start, -1);
    return RepeatedOperand{.kind = Kind::kWindow, .window = std::move(*here)};
  }

  // Whether a value is the window that `iteration` should read.
  bool is_window(const Value* value, const MovingWindow& window, int64_t iteration) const {
    const Shape wanted = sum_of(window.start, window.step, iteration - middle_);
    const std::optional<MovingWindow> found = window_of(value);
    if (found && found->source == window.source && found->sizes == window.sizes && found->start == wanted) return true;
    const std::optional<HandedOn> handed = handed_on(window.source);
    if (!handed || window.source->op->operand(handed->carried) != value) return false;
    const bool is_forward = handed->order == RowOrder::kForward;
    return wanted[0] == (is_forward ? -1 : window.source->type.shape[0]) && is_zero({wanted.begin() + 1, wanted.end()});
  }

  // Whether an op reads what the one at `position` should in `iteration`, of which `made` is known; not asked is what
  // the iteration before hands on.
  bool agrees(const Op& op, int64_t iteration, int64_t position, const std::vector<Values>& made) const {
    const RepeatedOp& wanted = body_[position];
    for (int j = 0; j < std::ssize(op.operands); ++j) {
      const RepeatedOperand& operand = wanted.operands[j];
      const Value* value = op.operand(j);
      if (operand.kind == Kind::kOutside && value != operand.value) return false;
      if (operand.kind == Kind::kWindow && !is_window(value, operand.window, iteration)) return false;
      if (operand.kind != Kind::kWithin) continue;
      const Values& results = made[operand.position];
      if (results.empty() || results[operand.result] != value) return false;
    }
    const std::optional<Shape> start = start_of(op);
    return !start || *start == (wanted.window ? sum_of(wanted.window->start, wanted.window->step, iteration - middle_)
                                              : *start_of(*wanted.op));
  }

  bool agrees(int64_t iteration) const {
    const std::vector<Values> made = made_in(iteration);
    for (int64_t q = 0; q < period_; ++q) {
      if (!agrees(*op(iteration, q), iteration, q, made)) return false;
    }
    return true;
  }

  // Whether an op at `position` reads what the iteration before it made.
  bool is_handed(const Op& op, int64_t position, const std::vector<Values>& made) const {
    for (int j = 0; j < std::ssize(op.operands); ++j) {
      const RepeatedOperand& operand = body_[position].operands[j];
      if (operand.kind != Kind::kCarried) continue;
      const Values& results = made[operand.position];
      if (results.empty() || results[operand.result] != op.operand(j)) return false;
    }
    return true;
  }

  // Whether the iteration behind one reads what it made.
  bool hands_on(int64_t iteration) const { return hands_on(iteration + 1, made_in(iteration)); }
  bool hands_on(int64_t to, const std::vector<Values>& made) const {
    for (int64_t q = 0; q < period_; ++q) {
      if (!is_handed(*op(to, q), q, made)) return false;
    }
    return true;
  }

  // What the first iteration is handed. False where that differs from reader to reader, or where something that should
  // be from outside is made in the stretch.
  bool find_starts() {
    starts_.clear();
    const int64_t begin = place(first_, 0);
    for (int64_t q = 0; q < period_; ++q) {
      const Op* reader = op(first_, q);
      for (int j = 0; j < std::ssize(reader->operands); ++j) {
        const RepeatedOperand& operand = body_[q].operands[j];
        if (operand.kind != Kind::kWithin && sequence_.place(reader->operand(j)) >= begin) return false;
        if (operand.kind == Kind::kCarried && !add_start(operand, reader->operand(j), starts_)) return false;
      }
    }
    return true;
  }

  static bool add_start(const RepeatedOperand& operand, Value* start, std::map<Source, Value*>& starts) {
    return starts.emplace(Source{operand.position, operand.result}, start).first->second == start;
  }

  // An addition to what is carried, which the first iteration does without.
  const RepeatedOperand* added_term(int64_t position) const {
    const RepeatedOp& sum = body_[position];
    if (!sum.op->is(kAdd)) return nullptr;
    const bool is_first_carried = sum.operands[0].kind == Kind::kCarried;
    const RepeatedOperand& term = sum.operands[is_first_carried ? 1 : 0];
    const RepeatedOperand& carried = sum.operands[is_first_carried ? 0 : 1];
    return carried.kind == Kind::kCarried && term.kind == Kind::kWithin ? &term : nullptr;
  }

  // The iteration before the first, where that does without additions. Gives how many ops it has.
  int64_t add_first() {
    std::vector<Op*> ops(period_);
    int64_t begin = place(first_, 0);
    for (int64_t q = period_ - 1; q >= 0; --q) {
      if (begin > 0 && sequence_.kind(begin - 1) == sequence_.kind(place(middle_, q))) {
        ops[q] = sequence_.op(--begin);
      } else if (!added_term(q)) {
        return 0;
      }
    }
    std::vector<Values> made(period_);
    std::map<Source, Value*> starts;
    for (int64_t q = 0; q < period_; ++q) {
      const RepeatedOp& wanted = body_[q];
      if (ops[q] && !agrees(*ops[q], first_ - 1, q, made)) return 0;
      for (int j = 0; j < std::ssize(wanted.operands); ++j) {
        const RepeatedOperand& operand = wanted.operands[j];
        if (operand.kind != Kind::kCarried) continue;
        Value* start = ops[q] ? ops[q]->operand(j) : nullptr;
        if (start && sequence_.place(start) >= begin) return 0;
        if (!add_start(operand, start, starts)) return 0;
      }
      made[q] = ops[q] ? results_of(*ops[q]) : made[added_term(q)->position];
    }
    if (!hands_on(first_, made)) return 0;
    const int64_t count = place(first_, 0) - begin;
    starts_ = std::move(starts);
    made_.insert(made_.begin(), std::move(made));
    --first_;
    return count;
  }

  // The iteration behind the last, where nobody reads what it would hand on. Gives how many ops it has.
  int64_t add_last() {
    std::vector<Values> made(period_);
    const int64_t begin = place(last_, 0);
    int64_t end = begin;
    for (int64_t q = 0; q < period_ && end < sequence_.size(); ++q) {
      if (sequence_.kind(end) != sequence_.kind(place(middle_, q))) continue;
      const Op& next = *sequence_.op(end);
      if (!agrees(next, last_, q, made) || !is_handed(next, q, made_.back())) continue;
      made[q] = results_of(next);
      ++end;
    }
    if (2 * (end - begin) < period_) return 0;
    made_.push_back(std::move(made));
    return end - begin;
  }

  const Sequence& sequence_;
  const int64_t begin_, period_, middle_;
  int64_t first_ = 0, last_ = 0;
  std::vector<RepeatedOp> body_;
  std::map<Source, Value*> starts_;
  std::vector<std::vector<Values>> made_;
};

// Where iterations may begin, the place that leaves most of them, and of these the one that hands on least.
std::optional<Repetition> find_in(const Sequence& sequence, const Stretch& stretch, int64_t trips_min) {
  std::optional<Iterations> best;
  for (int64_t begin = stretch.begin, end = begin + std::min(stretch.period, kBeginsMax); begin < end; ++begin) {
    if (stretch.end - begin < trips_min * stretch.period) break;
    Iterations iterations(sequence, {begin, stretch.end, stretch.period});
    if (iterations.trips() < trips_min || !iterations.is_worth_it()) continue;
    const bool is_better = !best || iterations.trips() > best->trips() ||
                           (iterations.trips() == best->trips() && iterations.carried_count() < best->carried_count());
    if (is_better) best.emplace(std::move(iterations));
  }
  if (!best) return std::nullopt;
  return best->make();
}

}  // namespace

std::optional<Repetition> find_repetition(const Block& block, int64_t trips_min) {
  const Sequence sequence(block);
  std::set<std::pair<int64_t, int64_t>> tried;  // begins and periods
  for (int64_t place = 0; place < sequence.size(); ++place) {
    if (!has_loops(*sequence.op(place))) continue;
    int64_t again = sequence.next_alike(place);
    for (int i = 0; i < kAlikeMax && again < sequence.size(); ++i, again = sequence.next_alike(again)) {
      const Stretch stretch = stretch_around(sequence, place, again);
      if (stretch.trips() < trips_min || !tried.emplace(stretch.begin, stretch.period).second) continue;
      if (std::optional<Repetition> found = find_in(sequence, stretch, trips_min)) return found;
    }
  }
  return std::nullopt;
}

}  // namespace ingot
