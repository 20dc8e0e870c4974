// Resize and Upsample: each axis by itself, as sums of a few neighbours with weights that are known while importing.
#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "aot/base/contains.h"
#include "aot/frontend/onnx/node_args.h"

namespace ingot::onnx {
namespace {

constexpr int64_t kAxisSizeMax = 1 << 18;  // of an axis: weights are kept for each element

// How one axis changes.
struct Axis {
  int64_t from, to;
  double scale;
  double roi_start = 0, roi_end = 1;
};

struct Rules {
  std::string mode, coordinates, nearest;
  bool antialias = false, excludes_outside = false;
  double cubic = -0.75, extrapolation = 0;
};

// Where, in the input, the centre of output element `at` lies.
double source_of(NodeArgs& n, const Rules& rules, const Axis& a, double at) {
  const double length = a.scale * static_cast<double>(a.from), last = static_cast<double>(a.from) - 1;
  if (rules.coordinates == "align_corners") return length == 1 ? 0 : at * last / (length - 1);
  if (rules.coordinates == "asymmetric") return at / a.scale;
  if (rules.coordinates == "half_pixel") return (at + 0.5) / a.scale - 0.5;
  if (rules.coordinates == "pytorch_half_pixel") return length == 1 ? -0.5 : (at + 0.5) / a.scale - 0.5;
  if (rules.coordinates == "tf_half_pixel_for_nn") return (at + 0.5) / a.scale;
  if (rules.coordinates == "half_pixel_symmetric") {
    const double offset = static_cast<double>(a.from) / 2 * (1 - static_cast<double>(a.to) / length);
    return offset + (at + 0.5) / a.scale - 0.5;
  }
  if (rules.coordinates == "tf_crop_and_resize") {
    const double extent = (a.roi_end - a.roi_start) * last;
    return a.roi_start * last + (length == 1 ? extent / 2 : at * extent / (length - 1));
  }
  n.fail(fmt::format("coordinate_transformation_mode = '{}'", rules.coordinates));
}

// The convolution kernel of the mode, at a distance. Keys, Cubic Convolution Interpolation, 1981.
double weight_at(const Rules& rules, double distance) {
  const double x = std::abs(distance), a = rules.cubic;
  if (rules.mode == "linear") return std::max(0.0, 1 - x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// An output element: its first neighbour and the weights from there on.
struct Neighbours {
  int64_t first;
  std::vector<double> weights;
};

int64_t nearest(NodeArgs& n, const Rules& rules, double source) {
  if (rules.nearest == "round_prefer_floor") return static_cast<int64_t>(std::ceil(source - 0.5));
  if (rules.nearest == "round_prefer_ceil") return static_cast<int64_t>(std::floor(source + 0.5));
  if (rules.nearest == "floor") return static_cast<int64_t>(std::floor(source));
  if (rules.nearest == "ceil") return static_cast<int64_t>(std::ceil(source));
  n.fail(fmt::format("nearest_mode = '{}'", rules.nearest));
}

Neighbours neighbours_of(NodeArgs& n, const Rules& rules, const Axis& a, double source) {
  if (rules.mode == "nearest") return {nearest(n, rules, source), {1}};
  // Against aliasing the kernel is stretched as far as the axis shrinks.
  const double stretch = rules.antialias ? std::min(a.scale, 1.0) : 1;
  const double radius = (rules.mode == "linear" ? 1 : 2) / stretch;
  if (radius > 1024) n.limit("it shrinks an axis by more than 500");
  Neighbours found{static_cast<int64_t>(std::floor(source - radius)) + 1, {}};
  const auto count = static_cast<int64_t>(2 * std::ceil(radius));
  double total = 0;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t at = found.first + k;
    const bool is_out = rules.excludes_outside && (at < 0 || at >= a.from);
    found.weights.push_back(is_out ? 0 : weight_at(rules, (static_cast<double>(at) - source) * stretch));
    total += found.weights.back();
  }
  if (rules.antialias || rules.excludes_outside) {
    for (double& weight : found.weights) weight /= total == 0 ? 1 : total;
  }
  return found;
}

bool is_outside(const Rules& rules, const Axis& a, double source) {
  return rules.coordinates == "tf_crop_and_resize" && (source < 0 || source > static_cast<double>(a.from) - 1);
}

// Neighbour number k of every output element, by its weight.
Term weighted(Term x, int64_t axis, const std::vector<Neighbours>& all, size_t k, int64_t size) {
  std::vector<int64_t> places;
  std::vector<double> weights;
  for (const Neighbours& each : all) {
    places.push_back(std::clamp<int64_t>(each.first + static_cast<int64_t>(k), 0, size - 1));
    weights.push_back(each.weights[k]);
  }
  GraphBuilder& b = x.builder();
  const Term taken = take(x, onnx::integers(b, {DType::kI32, {std::ssize(places)}}, places), axis);
  if (std::ranges::all_of(weights, [](double w) { return w == 1; })) return taken;
  const Term row = floats(b, {dtype_of(x), {std::ssize(weights)}}, weights);
  return taken * broadcast(along(row, axis, rank_of(x)), taken.shape());
}

Term resize_axis(NodeArgs& n, const Rules& rules, const Axis& a, Term x, int64_t axis) {
  if (a.from == 0 || a.to == 0) n.fail("an axis has no elements");
  if (a.to > kAxisSizeMax) n.limit(fmt::format("an axis of more than {} elements", kAxisSizeMax));
  std::vector<Neighbours> all;
  std::vector<double> outside;
  for (int64_t at = 0; at < a.to; ++at) {
    const double source = source_of(n, rules, a, static_cast<double>(at));
    if (!(std::abs(source) < 1e15)) n.fail(fmt::format("a scale of {}", a.scale));
    all.push_back(neighbours_of(n, rules, a, source));
    outside.push_back(is_outside(rules, a, source) ? 1 : 0);
  }
  Term y = weighted(x, axis, all, 0, a.from);
  for (size_t k = 1; k < all[0].weights.size(); ++k) y = y + weighted(x, axis, all, k, a.from);
  if (std::ranges::none_of(outside, [](double o) { return o != 0; })) return y;
  const Term row = floats(n.b, {dtype_of(y), {std::ssize(outside)}}, outside);
  const Term is_out = broadcast(along(row > row.like(0), axis, rank_of(y)), y.shape());
  return where(is_out, y.like(rules.extrapolation), y);
}

std::vector<double> known_floats(NodeArgs& n, int i) {
  const RefTensor value = n.known(i);
  if (!value.is_float()) n.fail(fmt::format("its input {} must be of floats", i));
  return value.f;
}

// Sizes by the least, or greatest, of the scales that the sizes ask for.
void keep_aspect_ratio(std::string_view policy, const std::vector<int64_t>& axes, std::vector<Axis>& changes) {
  if (policy == "stretch" || axes.empty()) return;
  double scale = changes[axes[0]].scale;
  for (const int64_t axis : axes) {
    scale = policy == "not_larger" ? std::min(scale, changes[axis].scale) : std::max(scale, changes[axis].scale);
  }
  for (const int64_t axis : axes) {
    Axis& a = changes[axis];
    a.scale = scale;
    a.to = static_cast<int64_t>(scale * static_cast<double>(a.from) + 0.5);
  }
}

void set_scales(NodeArgs& n, const std::vector<int64_t>& axes, const std::vector<double>& scales,
                std::vector<Axis>& changes) {
  if (scales.size() != axes.size()) n.fail(fmt::format("{} scales for {} axes", scales.size(), axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    Axis& a = changes[axes[i]];
    a.scale = scales[i];
    const double to = std::floor(static_cast<double>(a.from) * scales[i]);
    if (!(scales[i] > 0) || !(to < (1 << 28))) n.fail(fmt::format("a scale of {}", scales[i]));
    a.to = static_cast<int64_t>(to);
  }
}

void set_sizes(NodeArgs& n, const std::vector<int64_t>& axes, const std::vector<int64_t>& sizes,
               const std::string& policy, std::vector<Axis>& changes) {
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
    n.fail(fmt::format("keep_aspect_ratio_policy = '{}'", policy));
  if (sizes.size() != axes.size()) n.fail(fmt::format("{} sizes for {} axes", sizes.size(), axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    Axis& a = changes[axes[i]];
    if (sizes[i] < 0 || sizes[i] >= (1 << 28)) n.fail(fmt::format("a size of {}", sizes[i]));
    a.to = sizes[i];
    a.scale = a.from ? static_cast<double>(a.to) / static_cast<double>(a.from) : 1;
  }
  keep_aspect_ratio(policy, axes, changes);
}

Items resized(NodeArgs& n, const Rules& rules, const std::vector<int64_t>& axes, const std::vector<Axis>& changes) {
  const Term x = n.in(0);
  const bool is_moved = rules.mode == "nearest" && rules.coordinates != "tf_crop_and_resize";
  Term y = is_moved ? x : is_float(dtype_of(x)) ? widened(x) : converted(x, DType::kF32);
  for (const int64_t axis : axes) {
    const Axis& a = changes[axis];
    if (a.scale == 1 && a.from == a.to && a.roi_start == 0 && a.roi_end == 1) continue;
    y = resize_axis(n, rules, a, y, axis);
  }
  if (is_integer(dtype_of(x)) && !is_moved) return saturated(y, dtype_of(x));
  return converted(y, dtype_of(x));
}

std::vector<Axis> unchanged(Term x) {
  std::vector<Axis> changes;
  for (const int64_t size : x.shape()) changes.push_back({size, size, 1});
  return changes;
}

}  // namespace

// In opset 10 the inputs are x and scales; later x, roi, scales and sizes.
Items lower_resize(NodeArgs& n) {
  const Term x = n.in(0);
  const bool is_first = n.opset < 11;
  Rules rules{n.text("mode", "nearest"),
              n.text("coordinate_transformation_mode", is_first ? "asymmetric" : "half_pixel"),
              n.text("nearest_mode", is_first ? "floor" : "round_prefer_floor")};
  rules.antialias = n.flag("antialias");
  rules.excludes_outside = n.flag("exclude_outside");
  rules.cubic = n.number("cubic_coeff_a", -0.75);
  rules.extrapolation = n.number("extrapolation_value", 0);
  if (rules.mode != "nearest" && rules.mode != "linear" && rules.mode != "cubic")
    n.fail(fmt::format("mode = '{}'", rules.mode));
  const std::vector<int64_t> axes = n.axes(n.integers("axes", all_axes(x)), rank_of(x));
  const std::string policy = n.text("keep_aspect_ratio_policy", "stretch");
  std::vector<Axis> changes = unchanged(x);
  const int scales = is_first ? 1 : 2;
  const std::vector<double> given = n.has(scales) ? known_floats(n, scales) : std::vector<double>();
  if (!given.empty()) {
    set_scales(n, axes, given, changes);
  } else {
    set_sizes(n, axes, n.known_integers(3), policy, changes);
  }
  if (rules.coordinates == "tf_crop_and_resize") {
    const std::vector<double> roi = known_floats(n, 1);
    if (roi.size() != 2 * axes.size()) n.fail("roi needs a start and an end for each axis");
    for (size_t i = 0; i < axes.size(); ++i) {
      changes[axes[i]].roi_start = roi[i];
      changes[axes[i]].roi_end = roi[i + axes.size()];
    }
  }
  return resized(n, rules, axes, changes);
}

// Scales are an attribute up to opset 8.
Items lower_upsample(NodeArgs& n) {
  const Term x = n.in(0);
  const Rules rules{n.text("mode", "nearest"), "asymmetric", "floor"};
  if (rules.mode != "nearest" && rules.mode != "linear") n.fail(fmt::format("mode = '{}'", rules.mode));
  std::vector<Axis> changes = unchanged(x);
  set_scales(n, all_axes(x), n.has("scales") ? n.numbers("scales") : known_floats(n, 1), changes);
  return resized(n, rules, all_axes(x), changes);
}

}  // namespace ingot::onnx
