#include <algorithm>
#include <utility>

#include "aot/base/contains.h"
#include "aot/graph/access_map.h"
#include "aot/ops/ops.h"
#include "aot/ops/support/tiles.h"
#include "aot/schedule/sweep.h"

namespace ingot::schedule {
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
    if (!reads_own_index(op)) return 1;
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

}  // namespace ingot::schedule
