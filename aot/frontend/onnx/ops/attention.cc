// Attention and the positions that it is told by rotations.
#include "aot/frontend/onnx/attention.h"

#include <fmt/format.h>

#include <cmath>

namespace ingot::onnx {

// [b, t, heads d] as [b, heads, t, d].
Term split_heads(NodeArgs& n, Term x, int64_t heads) {
  const Shape& s = x.shape();
  if (heads < 1 || rank_of(x) != 3 || s[2] % heads)
    n.fail(fmt::format("{} heads do not divide {}", heads, to_string(type_of(x))));
  return swap_axes(reshape(x, {s[0], s[1], heads, s[2] / heads}), 1, 2);
}

Term join_heads(Term x) {
  const Shape& s = x.shape();
  return reshape(swap_axes(x, 1, 2), {s[0], s[2], s[1] * s[3]});
}

Term repeat_heads(NodeArgs& n, Term x, int64_t heads) {
  const Shape s = x.shape();
  if (s[1] == heads) return x;
  if (s[1] < 1 || heads % s[1]) n.fail(fmt::format("{} heads of queries for {} of keys", heads, s[1]));
  Shape wide = s;
  wide.insert(wide.begin() + 2, heads / s[1]);
  Shape joined = s;
  joined[1] = heads;
  return reshape(broadcast(unsqueeze(x, 2), wide), joined);
}

Term scores_of(Term q, Term k, double scale) {
  return batched_product(widened(q) * scale, swap_axes(widened(k), 2, 3));
}

namespace {

const double kNever = -std::numeric_limits<double>::infinity();

// What is added to the scores: 0 or the mask's number where a query may look, -inf elsewhere.
std::optional<Term> mask_of(NodeArgs& n, Term scores, int64_t past) {
  std::optional<Term> bias;
  const Shape& shape = scores.shape();
  const auto forbid = [&](Term allowed) {
    const Term wide = broadcast(allowed, shape);
    bias = where(wide, bias ? *bias : scores.like(0), scores.like(kNever));
  };
  if (n.has(3)) {
    Term mask = n.in(3);
    if (rank_of(mask) < 2) n.fail("its mask needs two dimensions at least");
    const int64_t missing = shape[3] - mask.shape().back();
    if (missing > 0) mask = pad_axis(mask, is_bool(dtype_of(mask)) ? 0 : kNever, rank_of(mask) - 1, 0, missing);
    if (is_bool(dtype_of(mask))) {
      forbid(mask);
    } else {
      bias = broadcast(converted(mask, dtype_of(scores)), shape);
    }
  }
  const TensorType places{DType::kI32, shape};
  const Term column = counted(scores, places, 3);
  if (n.flag("is_causal")) forbid(column <= counted(scores, places, 2) + static_cast<double>(past));
  if (n.has(6)) forbid(column < broadcast(along(converted(n.in(6), DType::kI32), 0, 4), shape));
  return bias;
}

Term with_past(NodeArgs& n, int input, Term x) { return n.has(input) ? concat({n.in(input), x}, 2) : x; }

}  // namespace

namespace {

// [b, heads, t, d] of an input that is so already, or has its heads side by side: then the attribute counts them.
Term in_heads(NodeArgs& n, int input, std::string_view count) {
  const Term x = n.in(input);
  if (rank_of(x) == 3) return split_heads(n, x, n.integer(count));
  if (rank_of(x) != 4) n.fail("its inputs must all have 3 or all have 4 dimensions");
  const int64_t heads = n.integer(count, x.shape()[1]);
  if (heads != x.shape()[1]) n.fail(fmt::format("{} = {} for an input of {} heads", count, heads, x.shape()[1]));
  return x;
}

}  // namespace

// softmax(softcap(q k^T scale) + mask) v, in heads: of 4 dimensions, or of 3 with the heads side by side in the last.
Items lower_attention(NodeArgs& n) {
  const bool is_flat = rank_of(n.in(0)) == 3;
  if (rank_of(n.in(1)) != rank_of(n.in(0)) || rank_of(n.in(2)) != rank_of(n.in(0)))
    n.fail("its inputs must all have 3 or all have 4 dimensions");
  const Term q = in_heads(n, 0, "q_num_heads"), k = in_heads(n, 1, "kv_num_heads"), v = in_heads(n, 2, "kv_num_heads");
  if (n.has(4) && rank_of(n.in(4)) != 4) n.fail("its past keys must have 4 dimensions");
  const int64_t past = n.has(4) ? n.in(4).shape()[2] : 0, heads = q.shape()[1];
  const Term keys = with_past(n, 4, k), values = with_past(n, 5, v);
  const double scale = n.number("scale", 1 / std::sqrt(static_cast<double>(q.shape()[3])));
  const Term raw = scores_of(q, repeat_heads(n, keys, heads), scale);
  const double softcap = n.number("softcap", 0);
  const Term capped = softcap > 0 ? tanh(raw / softcap) * softcap : raw;
  const std::optional<Term> mask = mask_of(n, capped, past);
  const Term masked = mask ? capped + *mask : capped;
  const DType precision = n.dtype("softmax_precision", dtype_of(masked));
  const Term weights = converted(softmax(converted(masked, precision), 3), dtype_of(masked));
  const Term y =
      converted(batched_product(weights, converted(repeat_heads(n, values, heads), dtype_of(weights))), dtype_of(q));
  const std::vector<Term> shown{raw, capped, masked, weights};
  const int64_t mode = n.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) n.fail(fmt::format("qk_matmul_output_mode = {}: 0 to 3", mode));
  return {is_flat ? join_heads(y) : y, keys, values, converted(shown[mode], dtype_of(q))};
}

// Pairs of elements turned by an angle that follows from the position.
Items lower_rotary_embedding(NodeArgs& n) {
  const bool is_flat = rank_of(n.in(0)) == 3;
  const Term x = in_heads(n, 0, "num_heads");
  const int64_t head = x.shape()[3], given = n.integer("rotary_embedding_dim", 0), turned = given ? given : head;
  if (turned < 0 || turned > head || turned % 2) n.fail(fmt::format("rotary_embedding_dim = {} of {}", turned, head));
  const Shape half{x.shape()[0], x.shape()[1], x.shape()[2], turned / 2};
  if (n.has(3)) n.check_indices(3, {n.in(1).shape()[0]}, false);
  const auto angles = [&](int input) {
    const Term table = n.has(3) ? take(n.in(input), n.in(3), 0) : n.in(input);
    return broadcast(unsqueeze(table, 1), half);
  };
  const Term cosine = angles(1), sine = angles(2), part = slice(x, 3, 0, turned);
  const bool interleaved = n.flag("interleaved");
  const Term a = interleaved ? slice(part, 3, 0, turned, 2) : slice(part, 3, 0, turned / 2);
  const Term b = interleaved ? slice(part, 3, 1, turned, 2) : slice(part, 3, turned / 2, turned);
  const Term real = cosine * a - sine * b, imaginary = sine * a + cosine * b;
  const Term rotated = interleaved ? reshape(concat({unsqueeze(real, 4), unsqueeze(imaginary, 4)}, 4), part.shape())
                                   : concat({real, imaginary}, 3);
  const Term y = turned == head ? rotated : concat({rotated, slice(x, 3, turned, head)}, 3);
  return is_flat ? join_heads(y) : y;
}

}  // namespace ingot::onnx
