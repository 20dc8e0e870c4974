// Pooling over windows and over all of space.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "aot/frontend/onnx/windows.h"
#include "aot/ops/support/index.h"

namespace ingot::onnx {
namespace {

struct Pool {
  Term x;
  Shape kernel;
  ops::Window window;  // of the spatial dimensions
};

// A window that is larger than its input, by less than a stride, has one position, as in ONNX Runtime.
Pool pool_of(NodeArgs& n) {
  const Term x = n.in(0);
  const Shape kernel = kernel_shape(n, x.shape());
  ops::Window window = spatial_window(n, x.shape(), kernel);
  for (size_t d = 0; d < window.size(); ++d) {
    ops::WindowDim& w = window[d];
    const int64_t missing = ops::dilated_extent(w.size, w.dilation) - (w.low + x.shape()[d + 2] + w.high);
    if (missing > 0 && missing < w.stride) w.high += missing;
  }
  return {x, kernel, window};
}

Term reduce_windows(const OpDef& op, Term x, const ops::Window& window) {
  return {x.builder(), ops::reduce_window(x.builder(), op, x, with_batch_and_channels(window))};
}

// How many elements of each window lie in the input, or, with padding, in the padded one that pads say.
std::vector<double> counts_of(const ops::WindowDim& w, int64_t size, int64_t low, int64_t high) {
  std::vector<double> counts;
  for (int64_t at = 0; at < w.positions(size); ++at) {
    double count = 0;
    for (int64_t k = 0; k < w.size; ++k) {
      const int64_t from = at * w.stride - w.low + k * w.dilation;
      if (from >= -low && from < size + high) ++count;
    }
    counts.push_back(std::max(count, 1.0));  // the mean of none is 0
  }
  return counts;
}

Term mean_of_windows(NodeArgs& n, const Pool& pool) {
  const Term sum = reduce_windows(kAdd, widened(pool.x), pool.window);
  const bool counts_padding = n.flag("count_include_pad");
  const std::vector<int64_t> pads = n.integers("pads", std::vector<int64_t>(2 * pool.kernel.size(), 0));
  const bool is_given = n.text("auto_pad", "NOTSET") == "NOTSET";
  Term mean = sum;
  for (size_t d = 0; d < pool.kernel.size(); ++d) {
    const ops::WindowDim& w = pool.window[d];
    const int64_t low = counts_padding ? w.low : 0;
    const int64_t high = !counts_padding ? 0 : is_given ? pads[d + pool.kernel.size()] : w.high;
    if (w.positions(pool.x.shape()[d + 2]) > (1 << 22) || w.size > (1 << 16)) n.limit("it has too many windows");
    const std::vector<double> counts = counts_of(w, pool.x.shape()[d + 2], low, high);
    if (std::ranges::all_of(counts, [&](double count) { return count == counts[0]; })) {
      if (!counts.empty()) mean = mean / counts[0];
      continue;
    }
    const Term row = floats(n.b, {dtype_of(sum), {std::ssize(counts)}}, counts);
    mean = mean / broadcast(along(row, static_cast<int64_t>(d) + 2, rank_of(sum)), sum.shape());
  }
  return converted(mean, dtype_of(pool.x));
}

// Where each element of x stands in the tensor, by rows or, with storage_order 1, each plane by columns.
Term places_of(NodeArgs& n, Term x, bool by_columns) {
  const Shape& shape = x.shape();
  Shape strides = row_major_strides(shape);
  if (by_columns) {
    for (size_t d = 2; d < shape.size(); ++d) strides[d] = d == 2 ? 1 : strides[d - 1] * shape[d - 1];
  }
  Term places = constant(n.b, {DType::kI64, shape}, 0);
  for (int d = 0; d < rank_of(x); ++d)
    places = places + counted(x, {DType::kI64, shape}, d) * static_cast<double>(strides[d]);
  return places;
}

// Element `offset` of every window: [batch, channels, positions...].
Term window_elements(Term padded, const Pool& pool, const Shape& positions, const Shape& offset) {
  Shape starts(2, 0), ends(padded.shape().begin(), padded.shape().begin() + 2), strides(2, 1);
  for (size_t d = 0; d < offset.size(); ++d) {
    const ops::WindowDim& w = pool.window[d];
    starts.push_back(offset[d] * w.dilation);
    ends.push_back(starts.back() + (positions[d] - 1) * w.stride + 1);
    strides.push_back(w.stride);
  }
  return {padded.builder(), ops::slice(padded.builder(), padded, starts, ends, strides)};
}

double lowest(DType dtype) {
  if (is_float(dtype)) return -std::numeric_limits<double>::infinity();
  return is_signed(dtype) ? -std::ldexp(1.0, info(dtype).bits - 1) : 0;
}

// The greatest of each window and where it is: the first one of equals.
Items max_with_places(NodeArgs& n, const Pool& pool, bool by_columns) {
  if (element_count(pool.kernel) > 1024)
    n.limit("its windows have more than 1024 elements, and their places are asked for");
  Shape low(2, 0), high(2, 0), positions;
  for (size_t d = 0; d < pool.kernel.size(); ++d) {
    low.push_back(pool.window[d].low);
    high.push_back(pool.window[d].high);
    positions.push_back(pool.window[d].positions(pool.x.shape()[d + 2]));
  }
  const Term x = pad(pool.x, lowest(dtype_of(pool.x)), low, high),
             places = pad(places_of(n, pool.x, by_columns), -1, low, high);
  std::optional<Term> best, at;
  ops::for_each_index(pool.kernel, [&](const Shape& offset, int64_t) {
    const Term element = window_elements(x, pool, positions, offset),
               place = window_elements(places, pool, positions, offset);
    if (!best) {
      best = element;
      at = place;
      return;
    }
    const Term wins = either(element > *best, both(*at < at->like(0), place >= place.like(0)));
    best = where(wins, element, *best);
    at = where(wins, place, *at);
  });
  return {*best, *at};
}

Term p_norm(Term x, int64_t p, const std::function<Term(Term)>& sum) {
  if (p == 1) return sum(abs(x));
  if (p == 2) return square_root(sum(x * x));
  return pow(sum(pow(abs(x), x.like(static_cast<double>(p)))), sum(x).like(1.0 / static_cast<double>(p)));
}

std::vector<int64_t> space_of(NodeArgs& n, Term x) {
  if (rank_of(x) < 2) n.fail("its input needs a batch and channels");
  std::vector<int64_t> axes = all_axes(x);
  axes.erase(axes.begin(), axes.begin() + 2);
  return axes;
}

}  // namespace

Items lower_max_pool(NodeArgs& n) {
  const Pool pool = pool_of(n);
  const bool by_columns = n.flag("storage_order");
  if (n.wants(1)) return max_with_places(n, pool, by_columns);
  return reduce_windows(kMaximum, pool.x, pool.window);
}

Items lower_average_pool(NodeArgs& n) { return mean_of_windows(n, pool_of(n)); }

Items lower_lp_pool(NodeArgs& n) {
  const Pool pool = pool_of(n);
  return p_norm(pool.x, n.integer("p", 2), [&](Term x) { return reduce_windows(kAdd, x, pool.window); });
}

Items lower_global_average_pool(NodeArgs& n) { return mean(n.in(0), space_of(n, n.in(0))); }
Items lower_global_max_pool(NodeArgs& n) { return reduce(kMaximum, n.in(0), space_of(n, n.in(0))); }

Items lower_global_lp_pool(NodeArgs& n) {
  const std::vector<int64_t> space = space_of(n, n.in(0));
  return p_norm(n.in(0), n.integer("p", 2), [&](Term x) { return reduce(kAdd, x, space); });
}

// Values put back where max_pool's indices say.
Items lower_max_unpool(NodeArgs& n) {
  const Term x = n.in(0), places = n.in(1);
  const Shape kernel = kernel_shape(n, x.shape());
  const ops::Window window = spatial_window(n, x.shape(), kernel);
  Shape natural(x.shape().begin(), x.shape().begin() + 2);
  for (size_t d = 0; d < kernel.size(); ++d) {
    natural.push_back((x.shape()[d + 2] - 1) * window[d].stride - window[d].low - window[d].high + kernel[d]);
  }
  const Shape wanted = n.has(2) ? Shape(n.known_integers(2)) : natural;
  const int64_t total = element_count(natural), count = element_count(x.shape());
  if (wanted.size() != natural.size() || total < 0) n.fail("output_shape does not fit");
  n.check_indices(1, {total}, false);
  ops::IndexedDims dims;
  dims.dropped_dims = dims.index_map = {0};
  dims.index_vector_dim = 1;
  const Term zeros = constant(n.b, {dtype_of(x), {total}}, 0);
  const Term flat(n.b, ops::scatter(n.b, nullptr, zeros, reshape(places, {count, 1}), reshape(x, {count}), dims));
  Shape high(wanted.size());
  for (size_t d = 0; d < wanted.size(); ++d) high[d] = wanted[d] - natural[d];
  return pad(reshape(flat, natural), 0, Shape(wanted.size(), 0), high);
}

}  // namespace ingot::onnx
