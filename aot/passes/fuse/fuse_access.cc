#include "aot/passes/fuse/fuse_access.h"

#include <algorithm>
#include <numeric>

#include "aot/base/contains.h"
#include "aot/graph/access_map.h"

namespace ingot::fusion {
namespace {

Access unaligned_access(int64_t evaluations, bool is_reread) {
  Access access;
  access.evaluations = evaluations;
  access.is_reread = is_reread;
  return access;
}

// Of a view that renames dimensions, or at least keeps the order of elements.
Access through_view(const Op& op, bool is_flat, const Access& access, const Space& space) {
  Access result = unaligned_access(access.evaluations, access.is_reread);
  if (!access.aligned) {
    if (!is_flat || !access.flat) return result;
    const Access back = align(op.operand(0)->type.shape, space, space.dims(), access.evaluations);
    result.flat = true;
    return back.aligned ? back : result;
  }
  const std::optional<std::vector<int>> dims = renamed_dims(op);
  result.aligned = dims.has_value();
  result.flat = !dims && is_flat && is_full(access, space);
  for (const int dim : dims.value_or(std::vector<int>())) result.dims.push_back(dim < 0 ? -1 : access.dims[dim]);
  return result;
}

// A value that rows repeat for each of their points is evaluated once a row.
Access once_a_row(Access access, const Space& space) {
  if (!space.reduced.empty() && space.is_rows() && is_row(access, space)) access.evaluations = space.rows();
  return access;
}

Access element_operand(const Op& op, const Access& access, const Space& space, int i) {
  const Value* operand = op.operand(i);
  if (reads_own_index(op)) {
    if (operand->type.shape == op.result()->type.shape) return access;
    Access scalar = unaligned_access(access.evaluations, access.is_reread);
    scalar.aligned = operand->type.shape.empty();
    return scalar;
  }
  const AccessMap map = access_map(op);
  // Of several pieces, no more elements are asked for than there are.
  if (map.pieces.size() > 1)
    return unaligned_access(std::min(access.evaluations, operand->type.elements()), access.is_reread);
  if (map.is_view() && i == 0) return through_view(op, map.is_flat, access, space);
  return unaligned_access(access.evaluations, access.is_reread);
}

}  // namespace

int64_t Space::rows() const {
  int64_t count = 1;
  for (int dim : kept()) count *= shape[dim];
  return count;
}

std::vector<int> Space::dims() const {
  std::vector<int> all(shape.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<int> Space::kept() const {
  std::vector<int> dims;
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
    if (!contains(reduced, d)) dims.push_back(d);
  }
  return dims;
}

bool Space::is_rows() const {
  return !reduced.empty() && reduced.front() == static_cast<int>(shape.size() - reduced.size());
}

std::vector<int> followed(const Access& access) {
  std::vector<int> dims;
  for (int dim : access.dims) {
    if (dim >= 0) dims.push_back(dim);
  }
  return dims;
}

namespace {

bool follows_exactly(const Access& access, const Space& space, const std::vector<int>& wanted) {
  if (!access.aligned) return false;
  std::vector<int> longer;
  for (int dim : wanted) {
    if (space.shape[dim] != 1) longer.push_back(dim);
  }
  return followed(access) == longer;
}

}  // namespace

bool is_full(const Access& access, const Space& space) {
  if (access.flat) return true;
  std::vector<int> all(space.shape.size());
  std::iota(all.begin(), all.end(), 0);
  return follows_exactly(access, space, all);
}

bool is_row(const Access& access, const Space& space) { return follows_exactly(access, space, space.kept()); }

Access align(const Shape& shape, const Space& space, const std::vector<int>& along, int64_t evaluations) {
  Access access;
  access.evaluations = evaluations;
  access.aligned = true;
  size_t next = 0;
  for (int64_t extent : shape) {
    if (extent == 1) {
      access.dims.push_back(-1);
      continue;
    }
    while (next < along.size() && space.shape[along[next]] == 1) ++next;
    if (next == along.size() || space.shape[along[next]] != extent) return unaligned_access(evaluations, false);
    access.dims.push_back(along[next++]);
  }
  while (next < along.size() && space.shape[along[next]] == 1) ++next;
  return next == along.size() ? access : unaligned_access(evaluations, false);
}

std::vector<int> missing_last_dims(const Access& access, const Space& space) {
  if (!access.aligned || !space.reduced.empty()) return {};
  const std::vector<int> dims = followed(access);
  std::vector<int> missing, kept;
  for (int d = 0; d < static_cast<int>(space.shape.size()); ++d) {
    if (!contains(dims, d) && space.shape[d] != 1) missing.push_back(d);
  }
  if (missing.empty()) return {};
  for (int d = missing.front(); d < static_cast<int>(space.shape.size()); ++d) {
    if (contains(dims, d)) return {};
  }
  std::vector<int> last(space.shape.size() - missing.front());
  std::iota(last.begin(), last.end(), missing.front());
  return last;
}

Access output_access(const Op& op, const Space& space) {
  const Shape& shape = op.result()->type.shape;
  const Access full = align(shape, space, space.dims(), space.points());
  if (!full.aligned && access_map(op).is_flat && align(op.operand(0)->type.shape, space, space.dims(), 0).aligned) {
    Access in_order = full;
    in_order.flat = true;
    return in_order;
  }
  if (full.aligned || space.reduced.empty()) return full;
  return align(shape, space, space.kept(), space.rows());
}

Access operand_access(const Op& op, const Access& access, const Space& space, int i) {
  const Value* operand = op.operand(i);
  switch (op.def->root) {
    case KernelRoot::kElement:
      return once_a_row(element_operand(op, access, space, i), space);
    case KernelRoot::kReduce: {
      if (i >= static_cast<int>(op.operands.size()) / 2) return unaligned_access(space.rows(), false);
      return align(operand->type.shape, space, space.dims(), space.points());
    }
    case KernelRoot::kScatter:
    case KernelRoot::kUpdate:
    case KernelRoot::kSort:
    case KernelRoot::kTopK:
      return unaligned_access(operand->type.elements(),
                              false);  // each element once, in another order than the result's
    case KernelRoot::kSelectScatter:
      return unaligned_access(operand->type.elements(), i == 0);  // of the sources, each once
    case KernelRoot::kNone:
    case KernelRoot::kControlFlow:
    case KernelRoot::kContraction:
    case KernelRoot::kWindow:
    case KernelRoot::kCholesky:
    case KernelRoot::kTriangularSolve:
      return unaligned_access(operand->type.elements(), true);
  }
  return unaligned_access(operand->type.elements(), true);
}

Access merged(const Access& a, const Access& b) {
  if (a.aligned == b.aligned && a.flat == b.flat && a.dims == b.dims && (a.aligned || a.flat)) {
    Access result = a;
    result.is_reread |= b.is_reread;
    result.evaluations = std::max(a.evaluations, b.evaluations);
    return result;
  }
  return unaligned_access(a.evaluations + b.evaluations, a.is_reread || b.is_reread);
}

}  // namespace ingot::fusion
