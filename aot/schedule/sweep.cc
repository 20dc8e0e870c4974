#include "aot/schedule/sweep.h"

#include <algorithm>

#include "aot/base/divide.h"
#include "aot/schedule/rows_ahead.h"

namespace ingot::schedule {

using loops::Expr;
using loops::Index;

namespace {

// Calls walk(from, to) for each segment of 0 .. end between bounds, from `first` on.
void between(loops::KernelBuilder& b, const std::set<int64_t>& bounds, const Index& first, int64_t end,
             const std::function<void(const Index& from, int64_t to)>& walk) {
  Index from = first;
  for (const int64_t bound : bounds) {
    const int64_t to = std::min(bound, end);
    walk(from, to);
    const Expr later = b.apply(loops::ScalarOp::kMaximum, {b.index_value(first), b.constant_int(DType::kI64, to)});
    from = first.is_constant() && first.constant <= to ? Index(to) : b.let_index("from", later, to, end);
  }
  walk(from, end);
}

// The bounds along a run in vectors: a vector across a bound is a segment by itself, and selects among its pieces alone.
std::set<int64_t> in_vectors(const std::set<int64_t>& bounds, int64_t lanes) {
  std::set<int64_t> vectors;
  for (const int64_t bound : bounds) vectors.insert({bound / lanes, divide_up(bound, lanes)});
  return vectors;
}

// The order in which a space is walked: outer dimensions, blocks of the strided one, the run, the elements of a block.
struct Walk {
  std::vector<int> outer;  // dimensions walked one by one, outermost first
  Shape outer_shape;       // of those whose pieces take turns: rounds
  Shape turns;             // in each of them
  Shape together;          // neighbours that the body makes at once
  int strided_dim = -1;
  int64_t strided = 1;  // its extent
  int64_t block = 1;    // elements of the strided dimension that are walked at a time: a cache line
  int64_t blocks = 1;
  bool in_squares = false;  // of vectors along the strided dimension and along the run
  int run_dim = -1;         // the innermost dimension of the run: the innermost ones, walked as one
  int64_t run = 1;          // its elements
  // Where joined pieces begin, counted in units or in vectors of the run.
  std::set<int64_t> unit_bounds, run_bounds;

  int64_t units() const { return element_count(outer_shape) * blocks; }
};

Walk walk_of(const SweepSpace& space, int64_t lanes, const loops::Machine& machine) {
  Walk walk;
  const Shape& shape = space.shape;
  walk.outer = long_dims(shape);
  const int merged = space.strided_dim >= 0 ? 1 : std::max(space.merged, 1);
  for (int t = 0; t < merged && !walk.outer.empty(); ++t) {
    const int dim = walk.outer.back();
    if (walk.run_dim < 0) walk.run_dim = dim;
    walk.run *= shape[dim];
    walk.outer.pop_back();
  }
  if (space.strided_dim >= 0 && space.strided_dim != walk.run_dim) {
    walk.strided_dim = space.strided_dim;
    walk.strided = shape[walk.strided_dim];
    walk.block = machine.line_bytes / info(DType::kF32).bytes;
    walk.in_squares = space.is_moved && lanes > 1;
    if (walk.in_squares) walk.block = round_up(walk.block, lanes);
    walk.blocks = divide_up(walk.strided, walk.block);
    std::erase(walk.outer, walk.strided_dim);
  }
  const auto joint = std::ranges::find(walk.outer, space.joint_dim);
  const bool joint_is_outer = joint != walk.outer.end();
  if (joint_is_outer) std::rotate(walk.outer.begin(), joint, joint + 1);
  for (const int d : walk.outer) {
    const auto turns = space.turns.find(d);
    const bool take_turns = turns != space.turns.end() && d != space.joint_dim;
    walk.turns.push_back(take_turns ? turns->second : 1);
    const auto together = space.together.find(d);
    walk.together.push_back(together == space.together.end() ? 1 : together->second);
    walk.outer_shape.push_back(divide_up(shape[d], walk.turns.back() * walk.together.back()));
  }
  if (joint_is_outer) {
    const int64_t units_each = walk.units() / shape[space.joint_dim];
    for (const int64_t bound : space.joint_bounds) walk.unit_bounds.insert(bound * units_each);
  } else if (space.joint_dim == walk.run_dim) {
    walk.run_bounds = in_vectors(space.joint_bounds, lanes);
  }
  return walk;
}

constexpr int64_t kShortRun = 4;  // elements that are copied one by one, where pieces take turns

// Writes the loops of a walk.
class Sweep {
 public:
  Sweep(Step& step, const SweepSpace& space, const SweepBody& body, const SweepAhead& ahead)
      : step_(step),
        b_(step.b()),
        rank_(space.shape.size()),
        walk_(walk_of(space, step.b().vector_lanes(), step.draft().target().machine)),
        body_(body),
        ahead_(ahead) {}

  void emit(int64_t wanted) {
    if (walk_.units() >= wanted) {
      emit_whole_runs(wanted);
    } else {
      emit_pieces(wanted);
    }
  }

 private:
  // A task is some units: runs within a block.
  void emit_whole_runs(int64_t wanted) {
    const int64_t units = walk_.units();
    const TaskPart part = part_of_task(b_, units, wanted);
    between(b_, walk_.unit_bounds, part.first, units, [&](const Index& from, int64_t to) {
      const auto unit_at = [&](Index unit) {
        ask_ahead(unit, to);
        emit_runs(unit, 0, walk_.run, nullptr);
      };
      b_.loop("unit", from, part.end, 1, unit_at, {Index(to)});
    });
  }

  // For what is read some units later, before `end`, where a unit is one run.
  void ask_ahead(const Index& unit, int64_t end) {
    if (!ahead_ || end == 1 || walk_.strided_dim >= 0 || element_count(walk_.turns) > 1) return;
    Pull::Scope scope(step_.pull());
    const std::vector<Index> rounds = loops::unflatten(b_, row_ahead(b_, unit, end), walk_.outer_shape);
    std::vector<Index> index(rank_, Index(0));
    for (size_t d = 0; d < rounds.size(); ++d) index[walk_.outer[d]] = rounds[d] * walk_.together[d];
    ahead_(index, walk_.run);
  }

  // Few runs: each is cut into pieces, and a task is a piece.
  void emit_pieces(int64_t wanted) {
    const int64_t units = walk_.units();
    const TaskPiece piece = piece_of_task(b_, units, walk_.run, divide_up(wanted, units), b_.vector_lanes());
    emit_runs(piece.unit, piece.first, piece.first + piece.each, piece.is_last);
  }

  // The runs of a unit, one of each turn.
  void emit_runs(const Index& unit, const Index& lower, const Index& upper, const Expr& owns_end) {
    const std::vector<Index> rounds = loops::unflatten(b_, b_.divide(unit, walk_.blocks), walk_.outer_shape);
    const Index block = b_.modulo(unit, walk_.blocks);
    for (int64_t turn = 0; turn < element_count(walk_.turns); ++turn) {
      std::vector<Index> outer;
      int64_t rest = turn;
      for (size_t d = 0; d < rounds.size(); ++d) {
        outer.push_back(rounds[d] * (walk_.turns[d] * walk_.together[d]) + rest % walk_.turns[d]);
        rest /= walk_.turns[d];
      }
      Pull::Scope scope(step_.pull());
      emit_run(outer, block, lower, upper, owns_end);
    }
  }

  // A run from `lower` to `upper`; whoever owns its end does the rest that fills no vector.
  void emit_run(const std::vector<Index>& outer, const Index& block, const Index& lower, const Index& upper,
                const Expr& owns_end) {
    const int64_t lanes = b_.vector_lanes();
    const bool is_short = element_count(walk_.turns) > 1 && walk_.run <= kShortRun && !owns_end;
    if (walk_.run == 1 || is_short) {
      for (int64_t i = 0; i < walk_.run; ++i) emit_vector(outer, block, i, nullptr);
      return;
    }
    const int64_t whole = walk_.run / lanes * lanes;
    const int64_t scale = walk_.run_bounds.empty() ? 1 : lanes;  // of the loop's variable: bounds are then in its range
    between(b_, walk_.run_bounds, b_.divide(lower, scale), whole / scale, [&](const Index& from, int64_t to) {
      const auto vector_at = [&](Index i) { emit_vector(outer, block, i * scale + b_.lane(), nullptr); };
      b_.loop("i", from, b_.divide(upper, scale), lanes / scale, vector_at, {Index(to)});
    });
    if (whole == walk_.run) return;
    b_.if_then(owns_end, [&] {
      const Index i = Index(whole) + b_.lane();
      emit_vector(outer, block, i, b_.in_range(i, 0, walk_.run));
    });
  }

  // A vector of the run for each element of a block of the strided dimension.
  void emit_vector(const std::vector<Index>& outer, const Index& block, const Index& i, const Expr& mask) {
    const Index first = block * walk_.block;
    const auto element_at = [&](Index s) {
      std::vector<Index> index(rank_, Index(0));
      for (size_t d = 0; d < outer.size(); ++d) index[walk_.outer[d]] = outer[d];
      if (walk_.run_dim >= 0) index[walk_.run_dim] = i;
      if (walk_.strided_dim >= 0) index[walk_.strided_dim] = s;
      Pull::Scope scope(step_.pull());
      body_(index, mask);
    };
    const int64_t lanes = b_.vector_lanes(), whole = walk_.in_squares && !mask ? walk_.strided / lanes * lanes : 0;
    if (whole == 0) return b_.loop("s", first, first + walk_.block, 1, element_at, {Index(walk_.strided)});
    const auto square_at = [&](const Index& s) {
      const Index at = b_.let_index("s", b_.index_value(s), 0, whole - lanes);
      Pull::Square square(step_.pull(), at.terms.empty() ? loops::kLaneVar : at.terms[0].var);
      for (int64_t place = 0; place < lanes; ++place) {
        square.enter(place);
        element_at(at + place);
      }
    };
    b_.loop("s", first, first + (walk_.block - lanes + 1), lanes, square_at, {Index(whole - lanes + 1)});
    if (whole == walk_.strided) return;
    b_.if_then(b_.in_range(block, walk_.blocks - 1, walk_.blocks),
               [&] { b_.loop("s", whole, walk_.strided, 1, element_at); });
  }

  Step& step_;
  loops::KernelBuilder& b_;
  size_t rank_;
  Walk walk_;
  const SweepBody& body_;
  const SweepAhead& ahead_;
};

}  // namespace

std::vector<SweepPlace> places_together(loops::KernelBuilder& b, const SweepSpace& space,
                                        const std::vector<Index>& first, const Expr& mask) {
  std::vector<SweepPlace> places = {{first, mask}};
  for (const auto& [dim, count] : space.together) {
    std::vector<SweepPlace> more;
    for (const SweepPlace& place : places) {
      for (int64_t k = 0; k < count; ++k) {
        SweepPlace next = place;
        next.index[dim] = next.index[dim] + k;
        if (space.shape[dim] % count != 0)
          next.mask = b.both(next.mask, b.in_range(next.index[dim], 0, space.shape[dim]));
        more.push_back(std::move(next));
      }
    }
    places = std::move(more);
  }
  return places;
}

void sweep(Step& step, const SweepSpace& space, int64_t wanted, const SweepBody& body, const SweepAhead& ahead) {
  if (element_count(space.shape) == 0) return step.b().set_task_count(0);
  Sweep(step, space, body, ahead).emit(wanted);
}

}  // namespace ingot::schedule
