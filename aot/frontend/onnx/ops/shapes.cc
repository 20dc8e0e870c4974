// Ops that only change how a tensor's elements are counted.
#include <fmt/format.h>

#include "aot/base/contains.h"
#include "aot/base/join.h"
#include "aot/frontend/onnx/node_args.h"

namespace ingot::onnx {

Items lower_shape(NodeArgs& n) {
  const Shape shape = n.in(0).shape();
  const auto rank = std::ssize(shape);
  const auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t start = place(n.integer("start", 0)), end = std::max(start, place(n.integer("end", rank)));
  const std::vector<int64_t> sizes(shape.begin() + start, shape.begin() + end);
  return onnx::integers(n.b, {DType::kI64, {std::ssize(sizes)}}, sizes);
}

Items lower_size(NodeArgs& n) { return onnx::integers(n.b, {DType::kI64, {}}, {element_count(n.in(0).shape())}); }

// 0 keeps a size, unless allowzero; one -1 follows from the others.
Items lower_reshape(NodeArgs& n) {
  const Term x = n.in(0);
  Shape shape = n.known_integers(1);
  const bool allows_zero = n.flag("allowzero");
  int64_t known = 1, open = -1;
  for (int64_t d = 0; d < std::ssize(shape); ++d) {
    if (shape[d] == 0 && !allows_zero) {
      if (d >= rank_of(x)) n.fail(fmt::format("dimension {} is to stay, but the input has {}", d, rank_of(x)));
      shape[d] = x.shape()[d];
    }
    if (shape[d] < -1 || (shape[d] == -1 && open >= 0)) n.fail(fmt::format("a shape of [{}]", join(shape, ", ")));
    if (shape[d] == -1) open = d;
    if (shape[d] >= 0 && __builtin_mul_overflow(known, shape[d], &known)) n.fail("the shape is too large");
  }
  if (open >= 0) shape[open] = known ? element_count(x.shape()) / known : 0;
  return reshape(x, shape);
}

Items lower_flatten(NodeArgs& n) {
  const Term x = n.in(0);
  const int rank = rank_of(x);
  const int64_t given = n.integer("axis", 1);
  if (given < -rank || given > rank) n.fail(fmt::format("axis {} of a tensor of {} dimensions", given, rank));
  const int64_t axis = given < 0 ? given + rank : given;
  const Shape rows(x.shape().begin(), x.shape().begin() + axis);
  const Shape columns(x.shape().begin() + axis, x.shape().end());
  return reshape(x, {element_count(rows), element_count(columns)});
}

Items lower_squeeze(NodeArgs& n) {
  const Term x = n.in(0);
  std::vector<int64_t> axes = n.axes(n.integers_of("axes", 1), rank_of(x));
  const bool all = !n.has("axes") && !n.has(1);
  for (int64_t d = 0; all && d < rank_of(x); ++d) {
    if (x.shape()[d] == 1) axes.push_back(d);
  }
  for (const int64_t axis : axes) {
    if (x.shape()[axis] != 1) n.fail(fmt::format("axis {} has {} elements, not 1", axis, x.shape()[axis]));
  }
  return reshape(x, without(x.shape(), axes));
}

Items lower_unsqueeze(NodeArgs& n) {
  const Term x = n.in(0);
  const std::vector<int64_t> given = n.integers_of("axes", 1);
  const int rank = rank_of(x) + static_cast<int>(given.size());
  const std::vector<int64_t> axes = n.axes(given, rank);
  Shape shape;
  auto next = x.shape().begin();
  for (int d = 0; d < rank; ++d) shape.push_back(contains(axes, d) ? 1 : *next++);
  return reshape(x, shape);
}

Items lower_expand(NodeArgs& n) {
  const Term x = n.in(0);
  const Shape wanted = n.known_integers(1);
  for (const int64_t size : wanted) {
    if (size < 0 || size > (int64_t{1} << 32)) n.fail(fmt::format("a dimension of {}", size));
  }
  return broadcast(x, broadcast_shape(x.shape(), wanted));
}

Items lower_tile(NodeArgs& n) {
  const Term x = n.in(0);
  const std::vector<int64_t> repeats = n.known_integers(1);
  if (std::ssize(repeats) != rank_of(x)) n.fail("it needs one number of repeats for each dimension");
  Shape wide, shape, split;
  std::vector<int64_t> dims;
  for (size_t d = 0; d < repeats.size(); ++d) {
    if (repeats[d] < 0 || repeats[d] > (int64_t{1} << 32)) n.fail(fmt::format("{} repeats", repeats[d]));
    wide.insert(wide.end(), {repeats[d], x.shape()[d]});
    dims.push_back(static_cast<int64_t>(2 * d + 1));
    shape.push_back(repeats[d] * x.shape()[d]);
  }
  return reshape({n.b, ops::broadcast_in_dim(n.b, x, wide, dims)}, shape);
}

Items lower_transpose(NodeArgs& n) {
  const Term x = n.in(0);
  std::vector<int64_t> reversed = all_axes(x);
  std::ranges::reverse(reversed);
  const std::vector<int64_t> permutation = n.axes(n.integers("perm", reversed), rank_of(x));
  if (std::ssize(permutation) != rank_of(x))
    n.fail(fmt::format("perm names {} of {} axes", permutation.size(), rank_of(x)));
  return transpose(x, permutation);
}

// [b, c, h, w] with blocks of channels spread over squares.
Items lower_depth_to_space(NodeArgs& n) {
  const Term x = n.in(0);
  const int64_t s = n.integer("blocksize");
  if (rank_of(x) != 4 || s < 1 || s > (1 << 16) || x.shape()[1] % (s * s))
    n.fail("channels must be a multiple of blocksize squared");
  const Shape& d = x.shape();
  const int64_t channels = d[1] / (s * s);
  const Shape result{d[0], channels, d[2] * s, d[3] * s};
  const std::string mode = n.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") n.fail(fmt::format("mode = '{}': DCR or CRD", mode));
  if (mode == "CRD") {
    return reshape(transpose(reshape(x, {d[0], channels, s, s, d[2], d[3]}), {0, 1, 4, 2, 5, 3}), result);
  }
  return reshape(transpose(reshape(x, {d[0], s, s, channels, d[2], d[3]}), {0, 3, 4, 1, 5, 2}), result);
}

Items lower_space_to_depth(NodeArgs& n) {
  const Term x = n.in(0);
  const int64_t s = n.integer("blocksize");
  if (rank_of(x) != 4 || s < 1 || x.shape()[2] % s || x.shape()[3] % s)
    n.fail("height and width must be multiples of blocksize");
  const Shape& d = x.shape();
  const Term split = reshape(x, {d[0], d[1], d[2] / s, s, d[3] / s, s});
  return reshape(transpose(split, {0, 3, 5, 1, 2, 4}), {d[0], d[1] * s * s, d[2] / s, d[3] / s});
}

}  // namespace ingot::onnx
