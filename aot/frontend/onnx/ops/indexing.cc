// Ops that read or write elements where indices say: Gather, Scatter and their kin.
#include <fmt/format.h>

#include <utility>

#include "aot/frontend/onnx/node_args.h"
#include "aot/ops/support/index.h"

namespace ingot::onnx {

namespace {

// Indices of the first input's axis lie at places of its other axes.
void check_elements(NodeArgs& n, int64_t axis) {
  const Shape &x = n.in(0).shape(), &indices = n.in(1).shape();
  for (size_t d = 0; d < x.size() && x.size() == indices.size(); ++d) {
    if (std::cmp_equal(d, axis) || indices[d] <= x[d]) continue;
    n.fail(fmt::format("its indices reach over dimension {}: {} of {} elements", d, indices[d], x[d]));
  }
  n.check_indices(1, {x[axis]});
}

}  // namespace

// x[.., indices[..], ..]: an index for each element of the result, along one axis.
Items lower_gather_elements(NodeArgs& n) {
  const Term x = n.in(0);
  const int64_t axis = n.axis(n.integer("axis", 0), rank_of(x));
  check_elements(n, axis);
  return gather_elements(x, from_end(n.in(1), x.shape()[axis]), axis);
}

Items lower_gather(NodeArgs& n) {
  const Term x = n.in(0);
  const int64_t axis = n.axis(n.integer("axis", 0), rank_of(x));
  n.check_indices(1, {x.shape()[axis]});
  return take(x, n.in(1), axis);
}

namespace {

// The index vectors of the second input, into the first one's dimensions from `first` on. Components count from the end
// where they are negative.
Term vectors_from_end(NodeArgs& n, int64_t first) {
  const Term indices = n.in(1);
  const Shape& shape = n.in(0).shape();
  const int64_t components = indices.shape().back();
  const std::vector<int64_t> sizes(shape.begin() + first, shape.begin() + first + components);
  n.check_indices(1, sizes);
  const Term extent =
      broadcast(onnx::integers(indices.builder(), {dtype_of(indices), {components}}, sizes), indices.shape());
  return where(indices < indices.like(0), indices + extent, indices);
}

const OpDef* reduction(NodeArgs& n) {
  const std::string name = n.text("reduction", "none");
  if (name == "none") return nullptr;
  if (name == "add") return &kAdd;
  if (name == "mul") return &kMultiply;
  if (name == "max") return &kMaximum;
  if (name == "min") return &kMinimum;
  n.fail(fmt::format("reduction = '{}': none, add, mul, max or min", name));
}

}  // namespace

Items lower_gather_nd(NodeArgs& n) {
  const Term x = n.in(0), given = n.in(1);
  const int64_t batch = n.integer("batch_dims", 0), rank = rank_of(x), index_rank = rank_of(given);
  if (index_rank < 1 || rank < 1 || batch < 0 || batch >= std::min(rank, index_rank))
    n.fail("batch_dims does not fit its inputs");
  const int64_t components = given.shape().back();
  if (components > rank - batch)
    n.fail(fmt::format("indices of {} components into {} dimensions", components, rank - batch));
  ops::IndexedDims dims;
  Shape sizes = x.shape();
  for (int64_t d = 0; d < batch; ++d) {
    dims.operand_batch.push_back(d);
    dims.indices_batch.push_back(d);
    sizes[d] = 1;
  }
  for (int64_t d = batch; d < batch + components; ++d) {
    dims.dropped_dims.push_back(d);
    dims.index_map.push_back(d);
    sizes[d] = 1;
  }
  for (int64_t d = batch + components; d < rank; ++d)
    dims.window_dims.push_back(index_rank - 1 + d - batch - components);
  dims.index_vector_dim = index_rank - 1;
  return Term(n.b, ops::gather(n.b, x, vectors_from_end(n, batch), dims, sizes));
}

Items lower_scatter_nd(NodeArgs& n) {
  const Term x = n.in(0), given = n.in(1), updates = n.in(2);
  if (rank_of(given) < 1) n.fail("its indices need a dimension");
  const int64_t components = given.shape().back(), index_rank = rank_of(given);
  if (components > rank_of(x))
    n.fail(fmt::format("indices of {} components into {} dimensions", components, rank_of(x)));
  ops::IndexedDims dims;
  for (int64_t d = 0; d < components; ++d) {
    dims.dropped_dims.push_back(d);
    dims.index_map.push_back(d);
  }
  for (int64_t d = index_rank - 1; d < rank_of(updates); ++d) dims.window_dims.push_back(d);
  dims.index_vector_dim = index_rank - 1;
  return Term(n.b, ops::scatter(n.b, reduction(n), x, vectors_from_end(n, 0), updates, dims));
}

// Each update at its own place, but for the axis, where the index says.
Items lower_scatter_elements(NodeArgs& n) {
  const Term x = n.in(0), updates = n.in(2);
  const int64_t axis = n.axis(n.integer("axis", 0), rank_of(x));
  check_elements(n, axis);
  const Term indices = converted(from_end(n.in(1), x.shape()[axis]), DType::kI64);
  std::vector<Term> components;
  for (int d = 0; d < rank_of(x); ++d) {
    const Term at = d == axis ? indices : counted(x, {DType::kI64, indices.shape()}, d);
    components.push_back(unsqueeze(at, rank_of(x)));
  }
  ops::IndexedDims dims;
  dims.dropped_dims = dims.index_map = all_axes(x);
  dims.index_vector_dim = rank_of(x);
  return Term(n.b, ops::scatter(n.b, reduction(n), x, concat(components, rank_of(x)), updates, dims));
}

// Rows of `update` into the cache, each batch element from its own index on.
Items lower_tensor_scatter(NodeArgs& n) {
  const Term cache = n.in(0), update = n.in(1);
  const int rank = rank_of(cache);
  const int64_t axis = n.axis(n.integer("axis", -2), rank), size = cache.shape()[axis];
  const Shape& shape = update.shape();
  Term at = counted(cache, {DType::kI64, shape}, axis);
  if (n.has(2)) at = at + broadcast(along(converted(n.in(2), DType::kI64), 0, rank), shape);
  const std::string mode = n.text("mode", "linear");
  if (mode != "linear" && mode != "circular") n.fail(fmt::format("mode = '{}': linear or circular", mode));
  if (mode == "circular") at = at.binary(kRemainder, at.like(static_cast<double>(size)));
  std::vector<Term> components;
  for (int d = 0; d < rank; ++d) {
    components.push_back(unsqueeze(d == axis ? at : counted(cache, {DType::kI64, shape}, d), rank));
  }
  ops::IndexedDims dims;
  dims.dropped_dims = dims.index_map = all_axes(cache);
  dims.index_vector_dim = rank;
  return Term(n.b, ops::scatter(n.b, nullptr, cache, concat(components, rank), update, dims));
}

}  // namespace ingot::onnx
