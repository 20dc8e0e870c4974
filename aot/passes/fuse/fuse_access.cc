#include "aot/passes/fuse/fuse_access.h"

#include <algorithm>
#include <numeric>

namespace ingot::fusion {
namespace {

bool is_one_of(const std::vector<int>& dims, int dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

Access elsewhere(int64_t evaluations, bool many_times) {
  Access access;
  access.evaluations = evaluations;
  access.many_times = many_times;
  return access;
}

Access through_reshape(const Shape& from, const Shape& to, const Access& access, const Space& space) {
  Access result = elsewhere(access.evaluations, access.many_times);
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
  Access result = elsewhere(access.evaluations, access.many_times);
  if (!access.aligned) return result;
  result.aligned = true;
  const std::vector<int64_t> dims = op.attrs().ints("broadcast_dimensions");
  for (size_t d = 0; d < dims.size(); ++d) {
    result.dims.push_back(op.operand(0)->type.shape[d] == 1 ? -1 : access.dims[dims[d]]);
  }
  return result;
}

Access through_transpose(const Op& op, const Access& access) {
  Access result = elsewhere(access.evaluations, access.many_times);
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
  if (op.is("stablehlo.reshape")) return through_reshape(operand->type.shape, op.result()->type.shape, access, space);
  if (op.is("stablehlo.broadcast_in_dim")) return through_broadcast(op, access);
  if (op.is("stablehlo.transpose")) return through_transpose(op, access);
  if (op.def->is_elementwise) {
    if (operand->type.shape == op.result()->type.shape) return access;
    Access scalar = elsewhere(access.evaluations, access.many_times);
    scalar.aligned = operand->type.shape.empty();
    return scalar;
  }
  // Joined, padded or cut: no more elements are asked for than there are.
  if (op.is("stablehlo.concatenate") || op.is("stablehlo.pad")) {
    return elsewhere(std::min(access.evaluations, operand->type.elements()), access.many_times);
  }
  return elsewhere(access.evaluations, access.many_times);
}

}  // namespace

int64_t Space::rows() const {
  int64_t count = 1;
  for (int dim : kept()) count *= shape[dim];
  return count;
}

std::vector<int> Space::kept() const {
  std::vector<int> dims;
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
    if (!is_one_of(reduced, d)) dims.push_back(d);
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
    if (next == along.size() || space.shape[along[next]] != extent) return elsewhere(evaluations, false);
    access.dims.push_back(along[next++]);
  }
  while (next < along.size() && space.shape[along[next]] == 1) ++next;
  return next == along.size() ? access : elsewhere(evaluations, false);
}

Access operand_access(const Op& op, const Access& access, const Space& space, int i) {
  const Value* operand = op.operand(i);
  switch (op.def->root) {
    case KernelRoot::kElement:
      return once_a_row(element_operand(op, access, space, i), space);
    case KernelRoot::kReduce: {
      if (i >= static_cast<int>(op.operands.size()) / 2) return elsewhere(space.rows(), false);
      std::vector<int> all(space.shape.size());
      std::iota(all.begin(), all.end(), 0);
      return align(operand->type.shape, space, all, space.points());
    }
    case KernelRoot::kScatter:
    case KernelRoot::kCopy:
    case KernelRoot::kSort:
    case KernelRoot::kTopK:
      return elsewhere(operand->type.elements(), false);  // each element once, in another order than the result's
    case KernelRoot::kSelectScatter:
      return elsewhere(operand->type.elements(), i == 0);  // of the sources, each once
    case KernelRoot::kNone:
    case KernelRoot::kControlFlow:
    case KernelRoot::kContraction:
    case KernelRoot::kWindow:
    case KernelRoot::kSequential:
      return elsewhere(operand->type.elements(), true);
  }
  return elsewhere(operand->type.elements(), true);
}

Access merged(const Access& a, const Access& b) {
  if (a.aligned == b.aligned && a.flat == b.flat && a.dims == b.dims && (a.aligned || a.flat)) {
    Access result = a;
    result.many_times |= b.many_times;
    result.evaluations = std::max(a.evaluations, b.evaluations);
    return result;
  }
  return elsewhere(a.evaluations + b.evaluations, a.many_times || b.many_times);
}

}  // namespace ingot::fusion
