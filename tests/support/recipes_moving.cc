// Recipes for ops that move elements: other shapes, parts, places found by indices.
#include <algorithm>
#include <numeric>

#include "tests/support/graph_maker.h"

namespace ingot {
namespace {

std::vector<int64_t> shuffled_dims(GraphMaker& m, int rank) {
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[m.random.below(static_cast<int64_t>(i))]);
  return order;
}

std::vector<int64_t> some_dims(GraphMaker& m, int rank) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < rank; ++d) {
    if (m.random.chance(0.5)) dims.push_back(d);
  }
  return dims;
}

// Into factors, or all in one, or with dimensions of 1.
void reshape(GraphMaker& m) {
  Value* x = m.any();
  Shape shape;
  int64_t left = x->type.elements();
  for (int64_t factor = 2; factor <= left && shape.size() < 3; ++factor) {
    while (left % factor == 0 && m.random.chance(0.5)) {
      shape.push_back(factor);
      left /= factor;
    }
  }
  if (shape.empty() || left != 1) shape.insert(shape.begin() + m.random.below(shape.size() + 1), left);
  if (m.random.chance(0.3)) shape.insert(shape.begin() + m.random.below(shape.size() + 1), 1);
  if (element_count(shape) == 1 && m.random.chance(0.3)) shape.clear();
  ops::reshape(m.b, x, shape);
}

void transpose(GraphMaker& m) {
  Value* x = m.any();
  ops::transpose(m.b, x, shuffled_dims(m, x->type.rank()));
}

void reverse(GraphMaker& m) {
  Value* x = m.any();
  ops::reverse(m.b, x, some_dims(m, x->type.rank()));
}

// Into more dimensions, in any order, dimensions of 1 repeated.
void broadcast_in_dim(GraphMaker& m) {
  Value* x = m.any();
  const int rank = x->type.rank() + static_cast<int>(m.random.below(3));
  std::vector<int64_t> dims = shuffled_dims(m, rank);
  dims.resize(x->type.rank());
  if (m.random.chance(0.8)) std::ranges::sort(dims);
  Shape shape = m.shape(rank);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (x->type.shape[i] != 1 || m.random.chance(0.5)) shape[dims[i]] = x->type.shape[i];
  }
  if (m.is_small(shape)) ops::broadcast_in_dim(m.b, x, shape, dims);
}

void slice(GraphMaker& m) {
  Value* x = m.any();
  Shape start, limit, strides;
  for (const int64_t extent : x->type.shape) {
    const bool is_cut = m.random.chance(0.6);
    start.push_back(is_cut ? m.random.below(extent + 1) : 0);
    limit.push_back(is_cut ? start.back() + m.random.below(extent - start.back() + 1) : extent);
    if (limit.back() == start.back() && extent > 0 && !m.random.chance(0.05)) {
      start.back() = 0;
      limit.back() = extent;
    }
    strides.push_back(1 + (m.random.chance(0.3) ? m.random.below(3) : 0));
  }
  ops::slice(m.b, x, start, limit, strides);
}

void pad(GraphMaker& m) {
  Value* x = m.any();
  Shape low, high, interior;
  for (size_t d = 0; d < x->type.shape.size(); ++d) {
    low.push_back(m.random.chance(0.5) ? m.random.below(5) - 1 : 0);
    high.push_back(m.random.chance(0.5) ? m.random.below(5) - 2 : 0);
    interior.push_back(m.random.chance(0.2) ? m.random.below(3) : 0);
  }
  Value* value = m.random.chance(0.5) ? m.of({x->type.dtype, {}}) : ops::constant(m.b, {x->type.dtype, {}}, 0);
  ops::pad(m.b, x, value, low, high, interior);
}

void concatenate(GraphMaker& m) {
  Value* x = m.any([](const TensorType& type) { return type.rank() > 0; });
  if (!x) return;
  const int64_t dim = m.random.below(x->type.rank());
  Values parts{x};
  for (int64_t count = m.random.below(3); count > 0; --count) {
    TensorType type = x->type;
    if (m.random.chance(0.4)) type.shape[dim] = m.extent();
    parts.insert(parts.begin() + m.random.below(parts.size() + 1), m.of(type));
  }
  ops::concatenate(m.b, parts, dim);
}

DType index_dtype(GraphMaker& m) {
  static const std::vector<DType> kDTypes = {DType::kI32, DType::kI32, DType::kI64, DType::kUI32,
                                             DType::kI8,  DType::kUI8, DType::kI16};
  return m.random.one_of(kDTypes);
}

// A window of `shape`, which fits.
Shape window_of(GraphMaker& m, const Shape& shape) {
  Shape sizes;
  for (const int64_t extent : shape) {
    sizes.push_back(m.random.chance(0.4) || extent == 0 ? extent : 1 + m.random.below(extent));
  }
  return sizes;
}

Values starts(GraphMaker& m, int rank) {
  const DType dtype = index_dtype(m);
  Values result;
  for (int d = 0; d < rank; ++d) result.push_back(m.of({dtype, {}}));
  return result;
}

void dynamic_slice(GraphMaker& m) {
  Value* x = m.any();
  const Values at = starts(m, x->type.rank());
  ops::dynamic_slice(m.b, x, at, window_of(m, x->type.shape));
}

void dynamic_update_slice(GraphMaker& m) {
  Value* x = m.any();
  Value* update = m.of({x->type.dtype, window_of(m, x->type.shape)});
  const Values at = starts(m, x->type.rank());
  ops::dynamic_update_slice(m.b, x, update, at);
}

// How index vectors find windows of x, with the indices' and the windows' shapes.
struct Windows {
  ops::IndexedDims dims;
  Shape sizes, indices, batched;
};

Windows random_windows(GraphMaker& m, const Shape& x) {
  Windows w;
  const Shape batch = m.shape(static_cast<int>(m.random.below(3)));
  const std::vector<int64_t> order = shuffled_dims(m, static_cast<int>(x.size()));
  const auto mapped = x.empty() ? 0 : 1 + m.random.below(std::min<int64_t>(3, static_cast<int64_t>(x.size())));
  w.dims.index_map.assign(order.begin(), order.begin() + mapped);
  w.sizes = window_of(m, x);
  for (int64_t d = 0; d < static_cast<int64_t>(x.size()); ++d) {
    if (m.random.chance(0.5) && x[d] > 0) {
      w.sizes[d] = 1;
      w.dims.dropped_dims.push_back(d);
    }
  }
  // The index vectors along any dimension of the indices, or beyond them all when they have one component.
  w.indices = batch;
  w.dims.index_vector_dim = static_cast<int64_t>(batch.size());
  if (mapped != 1 || m.random.chance(0.7)) {
    w.dims.index_vector_dim = m.random.below(static_cast<int64_t>(batch.size()) + 1);
    w.indices.insert(w.indices.begin() + w.dims.index_vector_dim, mapped);
  }
  // The windows' dimensions stand anywhere among those of the batch.
  const std::vector<int64_t> kept = w.dims.kept_dims(static_cast<int>(x.size()));
  size_t next_kept = 0, next_batch = 0;
  while (next_kept < kept.size() || next_batch < batch.size()) {
    const bool is_window = next_batch == batch.size() || (next_kept < kept.size() && m.random.chance(0.5));
    if (is_window) w.dims.window_dims.push_back(static_cast<int64_t>(w.batched.size()));
    w.batched.push_back(is_window ? w.sizes[kept[next_kept++]] : batch[next_batch++]);
  }
  return w;
}

void gather(GraphMaker& m) {
  Value* x = m.any();
  const Windows w = random_windows(m, x->type.shape);
  if (m.is_small(w.batched)) ops::gather(m.b, x, m.of({index_dtype(m), w.indices}), w.dims, w.sizes);
}

void scatter(GraphMaker& m) {
  static const std::vector<const OpDef*> kOps = {nullptr, &kAdd, &kAdd, &kMaximum, &kMinimum, &kMultiply};
  Value* x = m.any();
  const Windows w = random_windows(m, x->type.shape);
  if (!m.is_small(w.batched)) return;
  Value* indices = m.of({index_dtype(m), w.indices});
  Value* updates = m.of({x->type.dtype, w.batched});
  ops::scatter(m.b, m.random.one_of(kOps), x, indices, updates, w.dims);
}

// Rows of a table: as embeddings are read and their gradients added up.
void rows_of_table(GraphMaker& m) {
  Value* table = m.any([](const TensorType& type) { return type.rank() == 2 && type.elements() > 0; });
  if (!table) return;
  const int64_t count = m.extent(), columns = table->type.shape[1];
  Value* indices = m.of({DType::kI32, {count, 1}});
  const ops::IndexedDims dims{.window_dims = {1},
                              .dropped_dims = {0},
                              .operand_batch = {},
                              .indices_batch = {},
                              .index_map = {0},
                              .index_vector_dim = 1};
  Value* rows = ops::gather(m.b, table, indices, dims, {1, columns});
  if (m.random.chance(0.5)) ops::scatter(m.b, &kAdd, table, indices, rows, dims);
}

}  // namespace

std::vector<Recipe> moving_recipes() {
  return {
      {"reshape", 1, reshape},
      {"transpose", 1, transpose},
      {"reverse", 0.4, reverse},
      {"broadcast_in_dim", 1, broadcast_in_dim},
      {"slice", 1, slice},
      {"pad", 0.8, pad},
      {"concatenate", 0.8, concatenate},
      {"dynamic_slice", 0.5, dynamic_slice},
      {"dynamic_update_slice", 0.7, dynamic_update_slice},
      {"gather", 0.5, gather},
      {"scatter", 0.5, scatter},
      {"rows_of_table", 0.3, rows_of_table},
  };
}

}  // namespace ingot
