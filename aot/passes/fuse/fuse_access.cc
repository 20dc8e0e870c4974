#include "aot/passes/fuse/fuse_access.h"

#include <algorithm>
#include <numeric>

#include "aot/base/contains.h"
#include "aot/ops/ops.h"

namespace ingot::fusion {
namespace {

Access unaligned_access(int64_t evaluations, bool is_reread) {
  Access access;
  access.evaluations = evaluations;
  access.is_reread = is_reread;
  return access;
}

Access through_reshape(const Shape& from, const Shape& to, const Access& access, const Space& space) {
  Access result = unaligned_access(access.evaluations, access.is_reread);
  if (access.flat) {
    result.flat = true;
    return result;
  }
  if (!access.aligned) return result;
  // Dimensions longer than 1 that both have in the same order keep what they follow.
  std::vector<int> dims;
  std::vector<int64_t> extents;
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] == 1) continue;
    dims.push_back(access.dims[d]);
    extents.push_back(to[d]);
  }
  size_t next = 0;
  result.aligned = true;
  for (int64_t extent : from) {
    if (extent == 1) {
      result.dims.push_back(-1);
    } else if (next < extents.size() && extents[next] == extent) {
      result.dims.push_back(dims[next++]);
    } else {
      result.aligned = false;
      result.dims.clear();
      result.flat = is_full(access, space);
      return result;
    }
  }
  return result;
}

Access through_broadcast(const Op& op, const Access& access) {
  Access result = unaligned_access(access.evaluations, access.is_reread);
  if (!access.aligned) return result;
  result.aligned = true;
  const std::vector<int64_t> dims = op.attrs().ints("broadcast_dimensions");
  for (size_t d = 0; d < dims.size(); ++d) {
    result.dims.push_back(op.operand(0)->type.shape[d] == 1 ? -1 : access.dims[dims[d]]);
  }
  return result;
}

Access through_transpose(const Op& op, const Access& access) {
  Access result = unaligned_access(access.evaluations, access.is_reread);
  if (!access.aligned) return result;
  result.aligned = true;
  const std::vector<int64_t> permutation = op.attrs().ints("permutation");
  result.dims.resize(permutation.size());
  for (size_t d = 0; d < permutation.size(); ++d) result.dims[permutation[d]] = access.dims[d];
  return result;
}

// A value that rows repeat for each of their points is evaluated once a row.
Access once_a_row(Access access, const Space& space) {
  if (!space.reduced.empty() && space.is_rows() && is_row(access, space)) access.evaluations = space.rows();
  return access;
}

Access element_operand(const Op& op, const Access& access, const Space& space, int i) {
  const Value* operand = op.operand(i);
  if (op.is(kReshape)) return through_reshape(operand->type.shape, op.result()->type.shape, access, space);
  if (op.is(kBroadcastInDim)) return through_broadcast(op, access);
  if (op.is(kTranspose)) return through_transpose(op, access);
  if (op.def->is_elementwise) {
    if (operand->type.shape == op.result()->type.shape) return access;
    Access scalar = unaligned_access(access.evaluations, access.is_reread);
    scalar.aligned = operand->type.shape.empty();
    return scalar;
  }
  // Joined, padded or cut: no more elements are asked for than there are.
  if (op.is(kConcatenate) || op.is(kPad)) {
    return unaligned_access(std::min(access.evaluations, operand->type.elements()), access.is_reread);
  }
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
