// Normalisation: by batches, instances, layers, groups, neighbours and lengths.
#include <fmt/format.h>

#include <cmath>

#include "aot/frontend/onnx/node_args.h"
#include "aot/ops/support/index.h"

namespace ingot::onnx {
namespace {

Term channel(Term vector, Term x) { return broadcast(along(vector, 1, rank_of(x)), x.shape()); }

Term reciprocal_root(Term variance, double epsilon) { return (variance + epsilon).unary(kRsqrt); }

// What the moments are computed in: f32 at least, f64 where the input or stash_type is.
Term stashed(NodeArgs& n, Term x) {
  const DType stash = n.dtype("stash_type", DType::kF32);
  if (!is_float(stash)) n.fail("its attribute stash_type must be a float type");
  return stash == DType::kF64 ? converted(x, stash) : widened(x);
}

struct Moments {
  Term mean, centred, variance;  // of f32 at least; mean and variance with one element along the axes
};

Moments moments(Term x, const std::vector<int64_t>& axes) {
  const Term wide = widened(x), average = mean(wide, axes);
  const Term centred = wide - broadcast(average, x.shape());
  return {average, centred, mean(centred * centred, axes)};
}

Term normalised(const Moments& m, double epsilon) {
  return m.centred * broadcast(reciprocal_root(m.variance, epsilon), m.centred.shape());
}

std::vector<int64_t> axes_from(Term x, int64_t first) {
  std::vector<int64_t> axes = all_axes(x);
  axes.erase(axes.begin(), axes.begin() + first);
  return axes;
}

}  // namespace

// In training, by the batch's own moments, which also move the running ones.
Items lower_batch_normalization(NodeArgs& n) {
  const Term x = n.in(0);
  if (rank_of(x) < 2) n.fail("its input needs a batch and channels");
  const double epsilon = n.number("epsilon", 1e-5F), momentum = n.number("momentum", 0.9F);
  Term mean = n.in(3), variance = n.in(4);
  const bool training = n.flag("training_mode");
  if (!training && (n.wants(1) || n.wants(2)))
    n.limit("it computes the running mean in training; set training_mode, of opset 14, instead");
  if (!n.flag("spatial", true)) n.limit("spatial = 0: normalise each element by ops of its own");
  Items results;
  if (training) {
    const Moments m = moments(x, ops::other_dims(rank_of(x), {1}));
    const Term own_mean = converted(reshape(m.mean, mean.shape()), dtype_of(mean)),
               own_variance = converted(reshape(m.variance, variance.shape()), dtype_of(variance));
    results = {Item(), mean * momentum + own_mean * (1 - momentum),
               variance * momentum + own_variance * (1 - momentum)};
    mean = own_mean;
    variance = own_variance;
  }
  const DType wide = dtype_of(widened(x));
  const Term scale = converted(n.in(1), wide) * reciprocal_root(converted(variance, wide), epsilon);
  const Term centred = widened(x) - channel(converted(mean, wide), x);
  const Term y = converted(centred * channel(scale, x) + channel(converted(n.in(2), wide), x), dtype_of(x));
  if (!training) return y;
  results[0] = y;
  return results;
}

Items lower_instance_normalization(NodeArgs& n) {
  const Term x = n.in(0);
  if (rank_of(x) < 3) n.fail("its input needs a batch, channels and space");
  const Term y = normalised(moments(x, axes_from(x, 2)), n.number("epsilon", 1e-5F));
  const DType wide = dtype_of(y);
  return converted(y * channel(converted(n.in(1), wide), x) + channel(converted(n.in(2), wide), x), dtype_of(x));
}

Items lower_layer_normalization(NodeArgs& n) {
  const Term x = n.in(0);
  const int64_t axis = n.axis(n.integer("axis", -1), rank_of(x));
  const double epsilon = n.number("epsilon", 1e-5F);
  const Moments m = moments(stashed(n, x), axes_from(x, axis));
  const DType stash = n.dtype("stash_type", DType::kF32);
  Term y = normalised(m, epsilon);
  y = y * broadcast(converted(n.in(1), dtype_of(y)), x.shape());
  if (n.has(2)) y = y + broadcast(converted(n.in(2), dtype_of(y)), x.shape());
  return {converted(y, dtype_of(x)), converted(m.mean, stash), converted(reciprocal_root(m.variance, epsilon), stash)};
}

Items lower_rms_normalization(NodeArgs& n) {
  const Term x = n.in(0), wide = stashed(n, x);
  const int64_t axis = n.axis(n.integer("axis", -1), rank_of(x));
  const Term square = mean(wide * wide, axes_from(x, axis));
  const Term y = wide * broadcast(reciprocal_root(square, n.number("epsilon", 1e-5F)), x.shape());
  return converted(y * broadcast(converted(n.in(1), dtype_of(y)), x.shape()), dtype_of(x));
}

// Up to opset 20 scale and bias have a number for each group, then for each channel.
Items lower_group_normalization(NodeArgs& n) {
  const Term x = n.in(0);
  const int64_t groups = n.integer("num_groups");
  if (rank_of(x) < 2 || groups < 1 || x.shape()[1] % groups)
    n.fail(fmt::format("{} groups do not divide the channels", groups));
  Shape split{x.shape()[0], groups, -1};
  split[2] = split[0] * groups ? element_count(x.shape()) / (split[0] * groups) : 0;
  const Term y =
      reshape(normalised(moments(reshape(stashed(n, x), split), {2}), n.number("epsilon", 1e-5F)), x.shape());
  const auto by_channel = [&](Term vector) {
    const Term wide = converted(vector, dtype_of(y));
    if (element_count(vector.shape()) == x.shape()[1]) return channel(wide, x);
    return channel(reshape(broadcast(reshape(wide, {groups, 1}), {groups, x.shape()[1] / groups}), {x.shape()[1]}), x);
  };
  return converted(y * by_channel(n.in(1)) + by_channel(n.in(2)), dtype_of(x));
}

Items lower_lp_normalization(NodeArgs& n) {
  const Term x = n.in(0);
  const int64_t axis = n.axis(n.integer("axis", -1), rank_of(x)), p = n.integer("p", 2);
  if (p != 1 && p != 2) n.fail(fmt::format("p = {}: 1 or 2", p));
  const Term length = p == 1 ? reduce(kAdd, abs(x), {axis}) : square_root(reduce(kAdd, x * x, {axis}));
  const Term wide = broadcast(length, x.shape());
  return where(equal(wide, wide.like(0)), x.like(0), x / wide);
}

Items lower_mean_variance_normalization(NodeArgs& n) {
  const Term x = n.in(0);
  const Moments m = moments(x, n.axes(n.integers("axes", {0, 2, 3}), rank_of(x)));
  return converted(m.centred / (broadcast(square_root(m.variance), x.shape()) + 1e-9), dtype_of(x));
}

// x / (bias + alpha / size * sum of squares of the neighbouring channels)^beta
Items lower_lrn(NodeArgs& n) {
  const Term x = n.in(0);
  const int64_t size = n.integer("size");
  if (rank_of(x) < 2 || size < 1 || size > (1 << 20)) n.fail(fmt::format("size = {}", size));
  ops::Window window(rank_of(x));
  window[1] = {.size = size, .stride = 1, .low = (size - 1) / 2, .high = size / 2};
  const Term squares(n.b, ops::reduce_window(n.b, kAdd, x * x, window));
  const Term base = squares * (n.number("alpha", 1e-4F) / static_cast<double>(size)) + n.number("bias", 1);
  return x / pow(base, base.like(n.number("beta", 0.75)));
}

Items lower_dropout(NodeArgs& n) {
  const Term x = n.in(0);
  const bool trains = n.has(2) && n.known_number(2) != 0;
  const double ratio = n.has(1) ? n.known_number(1) : n.number("ratio", 0.5);
  if (trains && ratio != 0) n.limit("it draws random numbers in training; export the model for inference");
  // Up to opset 9 the mask has the input's type.
  return {x, constant(n.b, {n.opset < 10 ? dtype_of(x) : DType::kI1, x.shape()}, 1)};
}

}  // namespace ingot::onnx
