#include "aot/schedule/sweep.h"

#include <algorithm>
#include <utility>

#include "aot/base/contains.h"
#include "aot/base/divide.h"
#include "aot/graph/access_map.h"
#include "aot/ops/ops.h"
#include "aot/ops/support/tiles.h"
#include "aot/schedule/rows_ahead.h"

namespace ingot::schedule {

using loops::Expr;
using loops::Index;

namespace {

// The result's dimensions that may be walked as one: all in the operand, adjacent and innermost there, or none in it.
// `dims` are the operand's, as the result has them.
int merged_by_renaming(const Op& op, const std::vector<int>& dims, int merged_in_operand) {
  std::vector<int> renamed;  // where the operand's long dimensions are, in order
  std::ranges::copy_if(dims, std::back_inserter(renamed), [](int dim) { return dim >= 0; });
  const std::vector<int> all = long_dims(op.result()->type.shape);
  int merged = 0;
  for (size_t t = 1; t <= all.size(); ++t) {
    const int dim = all[all.size() - t];
    if (contains(renamed, dim) != contains(renamed, all.back())) break;
    const bool in_place =
        t <= renamed.size() && renamed[renamed.size() - t] == dim && static_cast<int>(t) <= merged_in_operand;
    if (contains(renamed, dim) && !in_place) break;
    merged = static_cast<int>(t);
  }
  return std::max(merged, std::min<int>(1, static_cast<int>(all.size())));
}

// The dimension of a view's result that its operand has innermost, where vectors of the result run across that; else -1.
int strided_dim_of(const Op& view) {
  std::optional<std::vector<int>> dims = renamed_dims(view);
  if (!dims) return -1;
  std::erase(*dims, -1);
  const std::vector<int> all = long_dims(view.result()->type.shape);
  if (dims->empty() || dims->back() == all.back() || !contains(*dims, all.back())) return -1;
  return dims->back();
}

// The dimension of `value` along which a buffer that it transposes is contiguous; -1 when that is the last one. `seen`
// are values that have been looked at.
int strided_dim(const Draft& draft, const Value* value, const Values& provided, std::set<const Value*>& seen) {
  if (draft.is_made(value) || contains(provided, value) || !seen.insert(value).second) return -1;
  const Op& op = *value->op;
  if (op.def->access) return strided_dim_of(op);
  if (!op.def->is_elementwise) return -1;
  for (const Value* operand : op.operands) {
    if (const int dim = strided_dim(draft, operand, provided, seen); dim >= 0) return dim;
  }
  return -1;
}

// Whether a value is moved from a buffer, and nothing else.
bool is_moved(const Draft& draft, const Value* value, const Values& provided) {
  if (draft.is_made(value)) return true;
  const Op& op = *value->op;
  return !contains(provided, value) && op.def->access && op.operands.size() == 1 &&
         is_moved(draft, op.operand(0), provided);
}

// Of a value that reorders a buffer's dimensions: those that stay neighbours are walked as the last of them.
void join_dims(const Draft& draft, const Value* value, Shape& shape) {
  const Value* from = value->op->operand(0);
  while (!draft.is_made(from) && access_map(*from->op).is_flat) from = from->op->operand(0);
  std::optional<std::vector<int>> dims = renamed_dims(*value->op);
  if (!draft.is_made(from) || !dims) return;
  std::erase(*dims, -1);
  const std::vector<int> all = long_dims(shape);
  for (size_t k = 0; k + 1 < dims->size(); ++k) {
    const int dim = (*dims)[k], next = (*dims)[k + 1];
    if (std::ranges::find(all, dim) + 1 == std::ranges::find(all, next)) shape[next] *= std::exchange(shape[dim], 1);
  }
}

// Where the first of the result's elements lies in a line, an operand of one dimension longer than 1, when the others
// follow it there. Nullopt for whatever else an op reads.
std::optional<int64_t> start_in_line(const Op& op) {
  const AccessMap map = access_map(op);
  if (map.pieces.size() != 1) return std::nullopt;
  const std::vector<int> line = long_dims(op.operand(0)->type.shape), all = long_dims(op.result()->type.shape);
  if (line.size() != 1) return std::nullopt;
  if (map.is_flat) return 0;
  const AxisMap& axis = map.pieces[0].axes[line[0]];
  const bool is_line = all.size() == 1 && follows(axis, all[0]) && axis.start < 0;
  return is_line ? std::optional(axis.constant) : std::nullopt;
}

// Bounds of pieces along the dimension of the space that is the joint's, or in which `flat_from` counts; see find_joint.
void add_bounds(const Joint& joint, int64_t flat_from, SweepSpace& space) {
  if (long_dims(space.shape).empty()) return;
  const int dim = flat_from < 0 ? joint.dim : long_dims(space.shape).back();
  if (space.joint_dim < 0) space.joint_dim = dim;
  if (space.joint_dim != dim) return;
  for (const int64_t start : joint.starts) {
    const int64_t bound = start - std::max<int64_t>(flat_from, 0);
    if (bound > 0 && bound < element_count(space.shape)) space.joint_bounds.insert(bound);
  }
}

// Finds the first dimension along which `value` is joined of pieces, through elementwise ops, and every bound along it.
// `flat_from` >= 0: `value` has one dimension longer than 1, whose elements from this one on are read in the order of
// the space's.
void find_joint(const Draft& draft, const Value* value, const Values& provided, int64_t flat_from,
                std::set<const Value*>& seen, SweepSpace& space) {
  if (draft.is_made(value) || contains(provided, value) || !seen.insert(value).second) return;
  const Op& op = *value->op;
  if (op.def->is_elementwise) {
    for (const Value* operand : op.operands) find_joint(draft, operand, provided, flat_from, seen, space);
  } else if (const std::optional<int64_t> start = start_in_line(op)) {
    find_joint(draft, op.operand(0), provided, std::max<int64_t>(flat_from, 0) + *start, seen, space);
  } else if (const std::optional<Joint> joint = joint_of(op)) {
    add_bounds(*joint, flat_from, space);
  }
}

// How a dimension of what is read on the way counts in the space: as `step` places of `dim` (-1: of none alone).
struct Digit {
  int dim = -1;
  int64_t step = 0;
};

// The digits of a reshape's operand, where those of its result are `digits`.
std::vector<Digit> digits_of_reshaped(const std::vector<Digit>& digits, const Shape& result, const Shape& operand) {
  std::vector<Digit> of_operand(operand.size());
  size_t i = result.size();
  int64_t left = 1;  // places of result dimension i that operand dimensions have not yet
  Digit digit;
  for (size_t j = operand.size(); j-- > 0;) {
    if (operand[j] == 1) continue;
    while (left == 1 && i > 0) {
      digit = digits[--i];
      left = result[i];
    }
    if (left % operand[j] != 0) return of_operand;
    of_operand[j] = digit;
    left /= operand[j];
    digit.step *= operand[j];
  }
  return of_operand;
}

// Finds the dimensions of the space in which pieces of `value` take turns, through elementwise ops and reshapes.
void find_turns(const Draft& draft, const Value* value, const Values& provided, const std::vector<Digit>& digits,
                std::set<const Value*>& seen, SweepSpace& space) {
  constexpr int64_t kTurnsMax = 4;
  if (draft.is_made(value) || contains(provided, value) || !seen.insert(value).second) return;
  if (value->type.elements() == 0) return;
  const Op& op = *value->op;
  if (op.def->is_elementwise) {
    for (const Value* operand : op.operands) find_turns(draft, operand, provided, digits, seen, space);
  } else if (access_map(op).is_flat) {
    const Value* operand = op.operand(0);
    find_turns(draft, operand, provided, digits_of_reshaped(digits, value->type.shape, operand->type.shape), seen,
               space);
  } else if (const std::optional<Joint> joint = joint_of(op)) {
    const int64_t count = value->type.shape[joint->dim];
    const Digit digit = digits[joint->dim];
    const bool take_turns = digit.dim >= 0 && digit.step == 1 && count <= kTurnsMax && count < space.shape[digit.dim] &&
                            space.shape[digit.dim] % count == 0;
    if (take_turns) space.turns.emplace(digit.dim, count);
    for (const Value* operand : op.operands) find_turns(draft, operand, provided, digits, seen, space);
  }
}

// Finds the dimensions of the space along which neighbours of `value` are made of the same elements, through elementwise
// ops. `dims`: the space's dimension with the index of each of the value's; -1: none.
void find_together(const Draft& draft, const Value* value, const std::vector<int>& dims, std::set<const Value*>& seen,
                   SweepSpace& space) {
  if (draft.is_made(value) || !seen.insert(value).second) return;
  const Op& op = *value->op;
  if (op.def->is_elementwise) {
    for (const Value* operand : op.operands) find_together(draft, operand, dims, seen, space);
  } else if (const std::optional<ops::Tiles> tiles = ops::tiles_of(op)) {
    for (const auto& [dim, count] : tiles->together) {
      if (dims[dim] >= 0) space.together.emplace(dims[dim], count);
    }
    std::vector<int> of_operand;
    for (const int dim : tiles->same_index) of_operand.push_back(dim < 0 ? -1 : dims[dim]);
    find_together(draft, op.operand(0), of_operand, seen, space);
  }
}

// merged_dims of each value once, however many read it.
class MergedDims {
 public:
  MergedDims(const Draft& draft, const Values& provided) : draft_(draft), provided_(provided) {}

  int of(const Value* value) {
    if (const auto found = known_.find(value); found != known_.end()) return found->second;
    return known_[value] = find(value);
  }

 private:
  int find(const Value* value) {
    if (draft_.is_update(value)) return std::min(merged_in_window(*value->op), of(draft_.source(value)));
    const int all = static_cast<int>(long_dims(value->type.shape).size());
    if (draft_.is_made(value) || contains(provided_, value) || all == 0) return all;
    const Op& op = *value->op;
    if (op.is(kConstant)) return op.attrs().literal("value")->is_splat ? all : 1;
    if (op.def->access) return through_access(op, all);
    if (!op.def->is_elementwise) return 1;
    int merged = all;
    for (const Value* operand : op.operands) merged = std::min(merged, of(operand));
    return merged;
  }

  int through_access(const Op& op, int all) {
    if (access_map(op).is_flat) {
      const Value* operand = op.operand(0);
      return of(operand) == std::ssize(long_dims(operand->type.shape)) ? all : 1;
    }
    const std::optional<std::vector<int>> dims = renamed_dims(op);
    return dims ? merged_by_renaming(op, *dims, of(op.operand(0))) : 1;
  }

  // Of an update: as far as the window's rows follow each other in the whole.
  static int merged_in_window(const Op& update) {
    const Shape& whole = update.operand(0)->type.shape;
    const Shape& window = update.operand(1)->type.shape;
    int merged = 0;
    for (size_t d = whole.size(); d-- > 0;) {
      if (window[d] != 1) ++merged;
      if (window[d] != whole[d]) break;
    }
    return std::max(merged, 1);
  }

  const Draft& draft_;
  const Values& provided_;
  std::map<const Value*, int> known_;
};

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

// The bounds along a run in vectors: a vector across a bound is a segment by itself. None where segments would be short.
std::set<int64_t> in_vectors(const std::set<int64_t>& bounds, int64_t run, int64_t lanes) {
  constexpr int64_t kVectorsMin = 4;
  const bool are_whole = std::ranges::all_of(bounds, [&](int64_t bound) { return bound % lanes == 0; });
  if (!are_whole && run < kVectorsMin * lanes * static_cast<int64_t>(bounds.size() + 1)) return {};
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
    walk.run_bounds = in_vectors(space.joint_bounds, walk.run, lanes);
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
    if (!ahead_ || end == 1 || walk_.blocks > 1 || walk_.strided_dim >= 0 || element_count(walk_.turns) > 1) return;
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

int merged_dims(const Draft& draft, const Value* value, const Values& provided) {
  return MergedDims(draft, provided).of(value);
}

SweepSpace sweep_space(const Draft& draft, const Values& values, const Values& provided) {
  const Shape& shape = draft.source(values[0])->type.shape;
  SweepSpace space{shape, static_cast<int>(shape.size())};
  MergedDims merged(draft, provided);
  std::set<const Value*> seen, seen_bounds, seen_turns;
  std::vector<Digit> digits;
  for (size_t d = 0; d < shape.size(); ++d) digits.push_back({static_cast<int>(d), 1});
  for (const Value* value : values) {
    find_turns(draft, draft.source(value), provided, digits, seen_turns, space);
    find_joint(draft, draft.source(value), provided, -1, seen_bounds, space);
    space.merged = std::min(space.merged, merged.of(value));
    space.strided_dim = std::max(space.strided_dim, strided_dim(draft, draft.source(value), provided, seen));
  }
  const Value* source = draft.source(values[0]);
  const bool is_whole = values.size() == 1 && !draft.is_update(values[0]);
  space.is_moved = is_whole && space.strided_dim >= 0 && is_moved(draft, source, provided);
  if (space.is_moved) join_dims(draft, source, space.shape);
  return space;
}

void find_together(const Draft& draft, const Values& values, SweepSpace& space) {
  if (space.strided_dim >= 0) return;
  std::vector<int> dims;
  for (size_t d = 0; d < space.shape.size(); ++d) dims.push_back(static_cast<int>(d));
  std::set<const Value*> seen;
  for (const Value* value : values) {
    if (!draft.is_update(value)) find_together(draft, value, dims, seen, space);
  }
  // Vectors run along the last dimension, and what is joined of pieces is walked by these.
  const std::vector<int> all = long_dims(space.shape);
  std::erase_if(space.together, [&](const auto& it) {
    return !contains(all, it.first) || it.first == all.back() || it.first == space.joint_dim ||
           space.turns.contains(it.first);
  });
}

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
