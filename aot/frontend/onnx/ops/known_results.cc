// Ops whose results have as many elements as the values of their inputs say: those must be known while importing.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "aot/frontend/onnx/node_args.h"
#include "aot/ops/support/index.h"

namespace ingot::onnx {
namespace {

Term indices_of(NodeArgs& n, const Shape& shape, const std::vector<int64_t>& values) {
  return onnx::integers(n.b, {DType::kI64, shape}, values);
}

bool is_set(const RefTensor& x, int64_t k) { return x.is_float() ? x.f[k] != 0 : x.i[k] != 0; }

}  // namespace

// [dimensions, elements that are not zero]
Items lower_non_zero(NodeArgs& n) {
  const RefTensor x = n.known(0);
  const int rank = x.type.rank();
  std::vector<std::vector<int64_t>> rows(rank);
  ops::for_each_index(x.type.shape, [&](const Shape& at, int64_t k) {
    for (int d = 0; d < rank && is_set(x, k); ++d) rows[d].push_back(at[d]);
  });
  std::vector<int64_t> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return indices_of(n, {rank, rank ? std::ssize(rows[0]) : 0}, all);
}

// The slices along an axis, or the elements, for which the condition is true.
Items lower_compress(NodeArgs& n) {
  const Term given = n.in(0);
  const bool is_flat = !n.has("axis");
  const Term x = is_flat ? reshape(given, {element_count(given.shape())}) : given;
  const int64_t axis = is_flat ? 0 : n.axis(n.integer("axis"), rank_of(x));
  const std::vector<int64_t> condition = n.known_integers(1);
  std::vector<int64_t> kept;
  for (int64_t k = 0; k < std::ssize(condition) && k < x.shape()[axis]; ++k) {
    if (condition[k]) kept.push_back(k);
  }
  return take(x, indices_of(n, {std::ssize(kept)}, kept), axis);
}

namespace {

// Slices of a tensor along an axis, ordered element by element.
class Slices {
 public:
  Slices(const RefTensor& x, int64_t axis) : x_(x), stride_(row_major_strides(x.type.shape)[axis]) {
    offsets_ = ops::offsets(x.type.shape, ops::other_dims(x.type.rank(), {axis}));
  }
  int compare(int64_t a, int64_t b) const {
    for (const int64_t offset : offsets_) {
      const int64_t i = a * stride_ + offset, k = b * stride_ + offset;
      const bool less = x_.is_float() ? x_.f[i] < x_.f[k] : x_.i[i] < x_.i[k];
      const bool greater = x_.is_float() ? x_.f[i] > x_.f[k] : x_.i[i] > x_.i[k];
      if (less || greater) return less ? -1 : 1;
    }
    return 0;
  }

 private:
  const RefTensor& x_;
  int64_t stride_;
  std::vector<int64_t> offsets_;
};

}  // namespace

// The slices that differ, sorted or as they come first; where each first stands, where each went, how many there are.
Items lower_unique(NodeArgs& n) {
  const bool is_flat = !n.has("axis");
  RefTensor x = n.known(0);
  const Term given = n.in(0), term = is_flat ? reshape(given, {element_count(given.shape())}) : given;
  if (is_flat) x.type.shape = term.shape();
  const int64_t axis = is_flat ? 0 : n.axis(n.integer("axis"), rank_of(term));
  const Slices slices(x, axis);
  std::vector<int64_t> order(term.shape()[axis]);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return slices.compare(a, b) < 0; });
  std::vector<std::vector<int64_t>> groups;
  for (const int64_t k : order) {
    if (groups.empty() || slices.compare(groups.back()[0], k) != 0) groups.emplace_back();
    groups.back().push_back(k);
  }
  if (!n.flag("sorted", true)) std::ranges::sort(groups, {}, [](const auto& group) { return group[0]; });
  std::vector<int64_t> first, inverse(order.size()), counts;
  for (size_t g = 0; g < groups.size(); ++g) {
    first.push_back(groups[g][0]);
    counts.push_back(std::ssize(groups[g]));
    for (const int64_t k : groups[g]) inverse[k] = static_cast<int64_t>(g);
  }
  const Term firsts = indices_of(n, {std::ssize(first)}, first);
  return {take(term, firsts, axis), firsts, indices_of(n, {std::ssize(inverse)}, inverse),
          indices_of(n, {std::ssize(counts)}, counts)};
}

namespace {

struct Box {
  double top, left, bottom, right;
  double area() const { return (bottom - top) * (right - left); }
};

Box box_at(const RefTensor& boxes, int64_t k, bool is_centred) {
  const double* v = boxes.f.data() + 4 * k;
  if (is_centred) return {v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
  return {std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]), std::max(v[1], v[3])};
}

// Intersection over union.
double overlap(const Box& a, const Box& b) {
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0 || a.area() <= 0 || b.area() <= 0) return 0;
  const double common = height * width;
  return common / (a.area() + b.area() - common);
}

double known_number(NodeArgs& n, int i, double otherwise) { return n.has(i) ? n.known_number(i) : otherwise; }

}  // namespace

// Of each class the boxes of greatest score that overlap none chosen before by too much: [batch, class, box] each.
Items lower_non_max_suppression(NodeArgs& n) {
  const RefTensor boxes = n.known(0), scores = n.known(1);
  if (!boxes.is_float() || !scores.is_float()) n.fail("its boxes and scores must be floats");
  if (boxes.type.rank() != 3 || scores.type.rank() != 3 || boxes.type.shape[2] != 4 ||
      scores.type.shape[2] != boxes.type.shape[1] || scores.type.shape[0] != boxes.type.shape[0]) {
    n.fail("its boxes must be [batch, boxes, 4], its scores [batch, classes, boxes]");
  }
  const bool is_centred = n.flag("center_point_box");
  const int64_t count = boxes.type.shape[1], classes = scores.type.shape[1];
  const double most = known_number(n, 2, 0), threshold = known_number(n, 3, 0);
  const double least = known_number(n, 4, -std::numeric_limits<double>::infinity());
  std::vector<int64_t> chosen;
  for (int64_t row = 0; row < boxes.type.shape[0] * classes; ++row) {
    const int64_t batch = row / classes;
    const auto score = [&](int64_t k) { return scores.f[row * count + k]; };
    std::vector<int64_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return score(a) > score(b); });
    std::vector<Box> kept;
    for (const int64_t k : order) {
      if (static_cast<double>(kept.size()) >= most || (n.has(4) && !(score(k) > least))) break;
      const Box box = box_at(boxes, batch * count + k, is_centred);
      if (std::ranges::any_of(kept, [&](const Box& other) { return overlap(box, other) > threshold; })) continue;
      kept.push_back(box);
      chosen.insert(chosen.end(), {batch, row % classes, k});
    }
  }
  return indices_of(n, {std::ssize(chosen) / 3, 3}, chosen);
}

}  // namespace ingot::onnx
