#include "aot/schedule/sweep.h"

#include <algorithm>
#include <map>

namespace ingot::schedule {

using loops::Expr;
using loops::Index;

namespace {

constexpr int64_t kStridedBlock = 16;  // elements of a cache line

// The result's dimensions that may be walked as one: all in the operand, adjacent and innermost there, or none in it.
int merged_by_broadcast(const Op& op, int merged_in_operand) {
  const Shape& from = op.operand(0)->type.shape;
  const std::vector<int64_t> to = op.attrs().ints("broadcast_dimensions");
  std::vector<int64_t> mapped;  // where the operand's long dimensions go, in order
  for (const int d : long_dims(from)) mapped.push_back(to[d]);
  const std::vector<int> dims = long_dims(op.result()->type.shape);
  const auto is_mapped = [&](int dim) { return std::ranges::find(mapped, dim) != mapped.end(); };
  int merged = 0;
  for (size_t t = 1; t <= dims.size(); ++t) {
    const int dim = dims[dims.size() - t];
    if (is_mapped(dim) != is_mapped(dims.back())) break;
    const bool in_place =
        t <= mapped.size() && mapped[mapped.size() - t] == dim && static_cast<int>(t) <= merged_in_operand;
    if (is_mapped(dim) && !in_place) break;
    merged = static_cast<int>(t);
  }
  return std::max(merged, std::min<int>(1, static_cast<int>(dims.size())));
}

// The dimension of `value` along which a buffer that it transposes is contiguous; -1 when that is the last one. `seen`
// are values that have been looked at.
int strided_dim(const Draft& draft, const Value* value, const Values& given, std::set<const Value*>& seen) {
  if (draft.is_made(value) || contains(given, value) || !seen.insert(value).second) return -1;
  const Op& op = *value->op;
  if (op.is("stablehlo.transpose")) {
    const std::vector<int64_t> permutation = op.attrs().ints("permutation");
    const std::vector<int> inner = long_dims(op.operand(0)->type.shape);
    const std::vector<int> outer = long_dims(value->type.shape);
    if (inner.size() < 2) return -1;
    const auto at = std::ranges::find(permutation, inner.back()) - permutation.begin();
    return at == outer.back() ? -1 : static_cast<int>(at);
  }
  if (!op.def->is_elementwise) return -1;
  for (const Value* operand : op.operands) {
    if (const int dim = strided_dim(draft, operand, given, seen); dim >= 0) return dim;
  }
  return -1;
}

// Finds the first dimension along which `value` is concatenated, through elementwise ops, and every joint along it.
// `flat_from` >= 0: `value` has one dimension longer than 1, whose elements from this one on are read in the order of
// the space's.
void find_joints(const Draft& draft, const Value* value, const Values& given, int64_t flat_from,
                 std::set<const Value*>& seen, SweepSpace& space) {
  if (draft.is_made(value) || contains(given, value) || !seen.insert(value).second) return;
  const Op& op = *value->op;
  if (op.def->is_elementwise) {
    for (const Value* operand : op.operands) find_joints(draft, operand, given, flat_from, seen, space);
  } else if (op.is("stablehlo.reshape") || op.is("stablehlo.slice")) {
    const std::vector<int> dims = long_dims(op.operand(0)->type.shape);
    const auto at = [&](std::string_view attr) {
      return op.attrs().ints(attr, Shape(dims.back() + 1, 1))[dims.back()];
    };
    if (dims.size() != 1 || (op.is("stablehlo.slice") && at("strides") != 1)) return;
    const int64_t start = op.is("stablehlo.slice") ? at("start_indices") : 0;
    find_joints(draft, op.operand(0), given, std::max<int64_t>(flat_from, 0) + start, seen, space);
  } else if (op.is("stablehlo.concatenate") && !long_dims(space.shape).empty()) {
    const auto along = static_cast<int>(op.attrs().integer("dimension"));
    const int dim = flat_from < 0 ? along : long_dims(space.shape).back();
    if (space.joined_dim < 0) space.joined_dim = dim;
    if (space.joined_dim != dim) return;
    int64_t start = -std::max<int64_t>(flat_from, 0);
    for (const Value* operand : op.operands) {
      if (start > 0 && start < element_count(space.shape)) space.joints.insert(start);
      start += operand->type.shape[along];
    }
    space.joints.erase(start);
  }
}

// merged_dims of each value once, however many read it.
class MergedDims {
 public:
  MergedDims(const Draft& draft, const Values& given) : draft_(draft), given_(given) {}

  int of(const Value* value) {
    if (const auto found = known_.find(value); found != known_.end()) return found->second;
    return known_[value] = find(value);
  }

 private:
  int find(const Value* value) {
    if (draft_.is_update(value)) return std::min(merged_in_window(*value->op), of(draft_.source(value)));
    const int all = static_cast<int>(long_dims(value->type.shape).size());
    if (draft_.is_made(value) || contains(given_, value) || all == 0) return all;
    const Op& op = *value->op;
    if (op.is("stablehlo.constant")) return op.attrs().literal("value")->is_splat ? all : 1;
    if (op.is("stablehlo.broadcast_in_dim")) return merged_by_broadcast(op, of(op.operand(0)));
    if (op.is("stablehlo.reshape")) {
      const Value* operand = op.operand(0);
      return of(operand) == static_cast<int>(long_dims(operand->type.shape).size()) ? all : 1;
    }
    if (!op.def->is_elementwise) return 1;
    int merged = all;
    for (const Value* operand : op.operands) merged = std::min(merged, of(operand));
    return merged;
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
  const Values& given_;
  std::map<const Value*, int> known_;
};

// Calls walk(from, to) for each stretch of 0 .. end between joints, from `first` on.
void between(loops::KernelBuilder& b, const std::set<int64_t>& joints, const Index& first, int64_t end,
             const std::function<void(const Index& from, int64_t to)>& walk) {
  Index from = first;
  for (const int64_t joint : joints) {
    const int64_t to = std::min(joint, end);
    walk(from, to);
    const Expr later = b.apply(loops::ScalarOp::kMaximum, {b.index_value(first), b.constant_int(DType::kI64, to)});
    from = first.is_constant() && first.constant <= to ? Index(to) : b.let_index("from", later, to, end);
  }
  walk(from, end);
}

// The joints along a run in vectors: one across a joint is a stretch by itself. None where stretches would be short.
std::set<int64_t> in_vectors(const std::set<int64_t>& joints, int64_t run, int64_t lanes) {
  constexpr int64_t kVectorsMin = 4;
  const bool are_whole = std::ranges::all_of(joints, [&](int64_t joint) { return joint % lanes == 0; });
  if (!are_whole && run < kVectorsMin * lanes * static_cast<int64_t>(joints.size() + 1)) return {};
  std::set<int64_t> vectors;
  for (const int64_t joint : joints) vectors.insert({joint / lanes, (joint + lanes - 1) / lanes});
  return vectors;
}

}  // namespace

std::vector<int> long_dims(const Shape& shape) {
  std::vector<int> dims;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1) dims.push_back(static_cast<int>(d));
  }
  return dims;
}

int merged_dims(const Draft& draft, const Value* value, const Values& given) {
  return MergedDims(draft, given).of(value);
}

SweepSpace sweep_space(const Draft& draft, const Values& values, const Values& given) {
  const Shape& shape = draft.source(values[0])->type.shape;
  SweepSpace space{shape, static_cast<int>(shape.size())};
  MergedDims merged(draft, given);
  std::set<const Value*> seen, seen_joints;
  for (const Value* value : values) {
    find_joints(draft, draft.source(value), given, -1, seen_joints, space);
    space.merged = std::min(space.merged, merged.of(value));
    space.strided_dim = std::max(space.strided_dim, strided_dim(draft, draft.source(value), given, seen));
  }
  return space;
}

void sweep(Step& step, const SweepSpace& space, int64_t wanted,
           const std::function<void(const std::vector<Index>&, const Expr&)>& body) {
  loops::KernelBuilder& b = step.b();
  const Shape& shape = space.shape;
  const int64_t lanes = b.vector_lanes();
  if (element_count(shape) == 0) return b.set_task_count(0);

  // Dimensions: `outer` walked one by one, then the run: the merged innermost ones.
  std::vector<int> dims = long_dims(shape);
  int64_t run = 1;
  int run_dim = -1;
  int merged = std::max(space.merged, 1);
  if (space.strided_dim >= 0) merged = 1;
  for (int t = 0; t < merged && !dims.empty(); ++t) {
    if (run_dim < 0) run_dim = dims.back();
    run *= shape[dims.back()];
    dims.pop_back();
  }
  const bool is_strided = space.strided_dim >= 0 && space.strided_dim != run_dim;
  if (is_strided) std::erase(dims, space.strided_dim);
  const auto joined = std::ranges::find(dims, space.joined_dim);
  const bool units_are_joined = joined != dims.end();
  if (units_are_joined) std::rotate(dims.begin(), joined, joined + 1);
  Shape outer_shape;
  for (const int d : dims) outer_shape.push_back(shape[d]);
  const int64_t outer = element_count(outer_shape);
  const int64_t strided = is_strided ? shape[space.strided_dim] : 1;
  const int64_t blocks = (strided + kStridedBlock - 1) / kStridedBlock;
  const int64_t whole = run / lanes * lanes;
  std::set<int64_t> unit_joints, run_joints;
  if (units_are_joined) {
    for (const int64_t joint : space.joints) unit_joints.insert(joint * (outer / shape[space.joined_dim]) * blocks);
  } else if (space.joined_dim == run_dim) {
    run_joints = in_vectors(space.joints, run, lanes);
  }

  const auto emit = [&](const std::vector<Index>& at, Index i, Index s, const Expr& mask) {
    std::vector<Index> index(shape.size(), Index(0));
    for (size_t d = 0; d < dims.size(); ++d) index[dims[d]] = at[d];
    if (run_dim >= 0) index[run_dim] = i;
    if (is_strided) index[space.strided_dim] = s;
    Pull::Scope scope(step.pull());
    body(index, mask);
  };
  // One run, from `lower` to `upper` (or to `upper_also`); whoever owns its end does the rest that fills no vector.
  const auto emit_run = [&](const std::vector<Index>& at, Index lower, Index upper, Index block, const Expr& owns_end) {
    const auto vector_at = [&](Index i, const Expr& mask) {
      const Index first = block * kStridedBlock;
      b.loop("s", first, first + kStridedBlock, 1, [&](Index s) { emit(at, i, s, mask); }, {Index(strided)});
    };
    if (run == 1) return vector_at(0, nullptr);
    const int64_t unit = run_joints.empty() ? 1 : lanes;  // of the loop's variable: joints are then in its range
    between(b, run_joints, b.divide(lower, unit), whole / unit, [&](const Index& from, int64_t to) {
      b.loop("i", from, b.divide(upper, unit), lanes / unit, [&](Index i) { vector_at(i * unit + b.lane(), nullptr); },
             {Index(to)});
    });
    if (whole == run) return;
    b.if_then(owns_end, [&] {
      const Index i = Index(whole) + b.lane();
      vector_at(i, b.in_range(i, 0, run));
    });
  };

  const int64_t units = outer * blocks;
  if (units >= wanted) {
    const TaskSplit split = split_tasks(units, wanted);
    b.set_task_count(split.tasks);
    const Index first = b.task() * split.each;
    between(b, unit_joints, first, units, [&](const Index& from, int64_t to) {
      b.loop("unit", from, first + split.each, 1,
             [&](Index unit) {
               Pull::Scope scope(step.pull());
               emit_run(loops::unflatten(b, b.divide(unit, blocks), outer_shape), 0, run, b.modulo(unit, blocks),
                        nullptr);
             },
             {Index(to)});
    });
    return;
  }
  // Few runs: each is cut into pieces.
  const TaskSplit split = split_tasks(run, (wanted + units - 1) / units, lanes);
  b.set_task_count(units * split.tasks);
  const Index unit = b.divide(b.task(), split.tasks);
  const Index piece = b.modulo(b.task(), split.tasks);
  const Expr owns_end =
      split.tasks == 1
          ? nullptr
          : b.apply(loops::ScalarOp::kEqual, {b.index_value(piece), b.constant_int(DType::kI64, split.tasks - 1)});
  const Index first = piece * split.each;
  emit_run(loops::unflatten(b, b.divide(unit, blocks), outer_shape), first, first + split.each, b.modulo(unit, blocks),
           owns_end);
}

}  // namespace ingot::schedule
