// Ops that move elements: Concat, Split, Slice, Pad and the like.
#include <fmt/format.h>

#include <limits>
#include <numeric>

#include "aot/base/divide.h"
#include "aot/base/join.h"
#include "aot/frontend/onnx/node_args.h"

namespace ingot::onnx {

Items lower_concat(NodeArgs& n) {
  const std::vector<Term> xs = n.all();
  if (xs.empty()) n.fail("it has no input");
  return concat(xs, n.axis(n.integer("axis"), rank_of(xs[0])));
}

// Parts of given sizes; else so many equal ones, the last of which may be smaller.
Items lower_split(NodeArgs& n) {
  const Term x = n.in(0);
  const int64_t axis = n.axis(n.integer("axis", 0), rank_of(x)), extent = x.shape()[axis];
  std::vector<int64_t> sizes = n.integers_of("split", 1);
  if (sizes.empty()) {
    const int64_t parts = n.integer("num_outputs", std::ssize(n.node.outputs));
    if (parts < 1 || parts > std::ssize(n.node.outputs)) n.fail(fmt::format("{} parts", parts));
    const int64_t size = divide_up(extent, parts);
    for (int64_t k = 0; k < parts; ++k) sizes.push_back(std::clamp<int64_t>(extent - k * size, 0, size));
  }
  const auto is_wrong = [&](int64_t size) { return size < 0 || size > extent; };
  if (std::ranges::any_of(sizes, is_wrong) || std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) != extent) {
    n.fail(fmt::format("parts of [{}] elements are not {} together", join(sizes, ", "), extent));
  }
  Items parts;
  int64_t start = 0;
  for (const int64_t size : sizes) {
    parts.emplace_back(slice(x, axis, start, start + size));
    start += size;
  }
  return parts;
}

namespace {

// Python's x[start:end:step] along one axis.
Term python_slice(NodeArgs& n, Term x, int64_t axis, int64_t start, int64_t end, int64_t step) {
  const int64_t size = x.shape()[axis];
  if (step == 0) n.fail("a step of 0");
  const auto place = [&](int64_t at, int64_t low, int64_t high) {
    return std::clamp(at < 0 ? std::max(at, -size - 1) + size : at, low, high);
  };
  if (step > 0)
    return slice(x, axis, place(start, 0, size), place(end, 0, size), std::min(step, std::max<int64_t>(size, 1)));
  step = std::max(step, -std::max<int64_t>(size, 1));
  const int64_t first = place(start, -1, size - 1), stop = place(end, -1, size - 1);
  return slice(reverse(x, axis), axis, size - 1 - first, std::max(size - 1 - stop, size - 1 - first), -step);
}

}  // namespace

// starts, ends and axes are attributes up to opset 9, then inputs.
Items lower_slice(NodeArgs& n) {
  Term x = n.in(0);
  const std::vector<int64_t> starts = n.integers_of("starts", 1), ends = n.integers_of("ends", 2);
  std::vector<int64_t> axes = n.integers_of("axes", 3), steps(starts.size(), 1);
  if (n.has(4)) steps = n.known_integers(4);
  if (!n.has("axes") && !n.has(3)) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  axes = n.axes(axes, rank_of(x));
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    n.fail("starts, ends, axes and steps must be of one length");
  }
  for (size_t i = 0; i < axes.size(); ++i) x = python_slice(n, x, axes[i], starts[i], ends[i], steps[i]);
  return x;
}

namespace {

// An element of the result for each index; mirrored ones turn at the ends as often as they must.
std::vector<int64_t> padded_indices(const std::string& mode, int64_t size, int64_t low, int64_t high) {
  std::vector<int64_t> indices;
  for (int64_t i = -low; i < size + high; ++i) {
    if (mode == "wrap") {
      indices.push_back(((i % size) + size) % size);
    } else if (mode == "edge") {
      indices.push_back(std::clamp<int64_t>(i, 0, size - 1));
    } else {
      const int64_t period = std::max<int64_t>(2 * (size - 1), 1), at = ((i % period) + period) % period;
      indices.push_back(std::min(at, period - at) % size);
    }
  }
  return indices;
}

Term padded_by_elements(NodeArgs& n, Term x, const std::string& mode, const Shape& low, const Shape& high) {
  for (int d = 0; d < rank_of(x); ++d) {
    if (low[d] == 0 && high[d] == 0) continue;
    const int64_t size = x.shape()[d];
    if (low[d] + size <= 0 || high[d] + size <= 0 || size == 0)
      n.fail(fmt::format("padding of {} and {} elements along axis {}", low[d], high[d], d));
    if (size + low[d] + high[d] > (1 << 24)) n.limit("an axis of more than 2^24 elements");
    const std::vector<int64_t> indices = padded_indices(mode, size, low[d], high[d]);
    x = take(x, onnx::integers(n.b, {DType::kI32, {std::ssize(indices)}}, indices), d);
  }
  return x;
}

}  // namespace

Items lower_pad(NodeArgs& n) {
  const Term x = n.in(0);
  const int rank = rank_of(x);
  const std::vector<int64_t> pads = n.integers_of("pads", 1);
  std::vector<int64_t> axes = all_axes(x);
  if (n.has(3)) axes = n.axes(n.known_integers(3), rank);
  if (pads.size() != 2 * axes.size())
    n.fail(fmt::format("{} pads for {} axes: two each are needed", pads.size(), axes.size()));
  Shape low(rank), high(rank);
  for (size_t i = 0; i < axes.size(); ++i) {
    low[axes[i]] = pads[i];
    high[axes[i]] = pads[i + axes.size()];
    if (std::abs(pads[i]) > (int64_t{1} << 32) || std::abs(pads[i + axes.size()]) > (int64_t{1} << 32))
      n.fail("pads of more than 2^32");
  }
  const std::string mode = n.text("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    n.fail(fmt::format("mode = '{}'", mode));
  const double value_or_zero = n.number("value", 0);
  if (mode != "constant") return padded_by_elements(n, x, mode, low, high);
  if (!n.has(2)) return pad(x, value_or_zero, low, high);
  const Term value = reshape(n.in(2), {});
  return Term(n.b, ops::pad(n.b, x, value, low, high, Shape(rank, 0)));
}

// The middle of each axis, or the tensor in the middle of zeros.
Items lower_center_crop_pad(NodeArgs& n) {
  Term x = n.in(0);
  const std::vector<int64_t> sizes = n.known_integers(1);
  const std::vector<int64_t> axes = n.axes(n.integers("axes", all_axes(x)), rank_of(x));
  if (axes.size() != sizes.size()) n.fail(fmt::format("{} sizes for {} axes", sizes.size(), axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t size = x.shape()[axes[i]];
    if (sizes[i] < 0 || sizes[i] > (int64_t{1} << 32)) n.fail(fmt::format("a size of {}", sizes[i]));
    if (sizes[i] < size) {
      const int64_t start = (size - sizes[i]) / 2;
      x = slice(x, axes[i], start, start + sizes[i]);
    } else {
      const int64_t low = (sizes[i] - size) / 2;
      x = pad_axis(x, 0, axes[i], low, sizes[i] - size - low);
    }
  }
  return x;
}

// The first sequence_lens[b] elements along the time axis, from the last to the first.
Items lower_reverse_sequence(NodeArgs& n) {
  const Term x = n.in(0), lengths = n.in(1);
  const int64_t batch = n.axis(n.integer("batch_axis", 1), rank_of(x)),
                time = n.axis(n.integer("time_axis", 0), rank_of(x));
  const TensorType places{DType::kI32, x.shape()};
  const Term at = counted(x, places, time);
  const Term length = broadcast(along(converted(lengths, DType::kI32), batch, rank_of(x)), x.shape());
  const Term from = where(at < length, length - at - 1, at);
  return gather_elements(x, from, time);
}

}  // namespace ingot::onnx
