// Attention whose scores and weights the model changes by graphs of its own, and attention by a running state.
#include <fmt/format.h>

#include <cmath>

#include "aot/frontend/onnx/attention.h"
#include "aot/frontend/onnx/graph_importer.h"
#include "aot/frontend/onnx/windows.h"
#include "aot/ops/support/loop.h"

namespace ingot::onnx {
namespace {

Term changed_by(NodeArgs& n, std::string_view attribute, Term x) {
  if (!n.has(attribute)) return x;
  const std::vector<Item> outputs = n.importer.run_inner(n.graph(attribute), {Item(x)});
  if (outputs.size() != 1 || !outputs[0].value) n.fail(fmt::format("the graph {} must have one output", attribute));
  return {n.b, outputs[0].value};
}

}  // namespace

Items lower_flex_attention(NodeArgs& n) {
  const Term q = n.in(0), k = n.in(1), v = n.in(2);
  if (rank_of(q) != 4 || rank_of(k) != 4 || rank_of(v) != 4) n.fail("its inputs must have 4 dimensions");
  const int64_t heads = q.shape()[1];
  const double scale = n.number("scale", 1 / std::sqrt(static_cast<double>(q.shape()[3])));
  const Term scores = scores_of(q, repeat_heads(n, k, heads), scale);
  const DType precision = n.dtype("softmax_precision", dtype_of(scores));
  const Term weights = softmax(changed_by(n, "score_mod", converted(scores, precision)), 3);
  const Term changed = changed_by(n, "prob_mod", weights);
  return converted(batched_product(changed, converted(repeat_heads(n, v, heads), dtype_of(changed))), dtype_of(v));
}

namespace {

// The tensors of one step, [b, heads, ...], out of those of all: time is the third dimension.
Term at_time(GraphBuilder& b, Term all, Value* t) {
  const Term x(b, static_cast<Value*>(all));
  Values starts(4, ops::constant(b, {DType::kI32, {}}, 0));
  starts[2] = t;
  Shape sizes = x.shape();
  sizes[2] = 1;
  const Term one(b, ops::dynamic_slice(b, x, starts, sizes));
  return reshape(one, without(x.shape(), {2}));
}

struct LinearStep {
  Term q, k, v;  // [b, heads, t, d], in f32
  std::optional<Term> decay, beta;
  double scale;
};

// state = exp(decay) state + k (beta (v - state^T k))^T, and what the query reads of it: [b, heads, d_v].
Term step_of(GraphBuilder& b, const LinearStep& s, Value* t, Term& state) {
  const Shape shape = state.shape();
  const Term q = at_time(b, s.q, t), k = at_time(b, s.k, t);
  Term v = at_time(b, s.v, t);
  if (s.decay) state = state * broadcast(unsqueeze(exp(at_time(b, *s.decay, t)), 3), shape);
  if (s.beta) {
    const Term found = reduce(kAdd, state * broadcast(unsqueeze(k, 3), shape), {2});
    v = broadcast(at_time(b, *s.beta, t), v.shape()) * (v - reshape(found, v.shape()));
  }
  state = state + broadcast(unsqueeze(k, 3), shape) * broadcast(unsqueeze(v, 2), shape);
  const int64_t groups = q.shape()[1] / shape[1];
  const Term read = reshape(broadcast(unsqueeze(state, 2), {shape[0], shape[1], groups, shape[2], shape[3]}),
                            {shape[0], q.shape()[1], shape[2], shape[3]});
  const Term y = reduce(kAdd, read * broadcast(unsqueeze(q, 3), read.shape()), {2});
  return y * s.scale;
}

Term f32_heads(NodeArgs& n, int input, int64_t heads) {
  return split_heads(n, converted(n.in(input), DType::kF32), heads);
}

// Which of decay and rate there are says the rule; its name must agree.
void check_update_rule(NodeArgs& n) {
  const std::string rule = n.text("update_rule", "gated_delta");
  const bool decays = rule == "gated" || rule == "gated_delta", corrects = rule == "delta" || rule == "gated_delta";
  if (!decays && !corrects && rule != "linear")
    n.fail(fmt::format("update_rule = '{}': linear, gated, delta or gated_delta", rule));
  if (n.has(4) != decays || n.has(5) != corrects)
    n.fail(fmt::format("update_rule = '{}' takes {}", rule,
                       decays && corrects ? "decay and beta"
                       : decays           ? "decay and no beta"
                       : corrects         ? "beta and no decay"
                                          : "neither decay nor beta"));
}

}  // namespace

Items lower_linear_attention(NodeArgs& n) {
  const int64_t q_heads = n.integer("q_num_heads"), heads = n.integer("kv_num_heads");
  if (q_heads < 1 || heads < 1 || q_heads % heads)
    n.fail(fmt::format("{} heads of queries for {} of keys", q_heads, heads));
  LinearStep s{f32_heads(n, 0, q_heads), f32_heads(n, 1, heads), f32_heads(n, 2, heads), {}, {}, n.number("scale", 0)};
  if (n.has(4)) s.decay = f32_heads(n, 4, heads);
  if (n.has(5)) s.beta = f32_heads(n, 5, rank_of(n.in(5)) == 3 && n.in(5).shape()[2] == heads ? heads : 1);
  const int64_t batch = s.q.shape()[0], time = s.q.shape()[2], d_k = s.k.shape()[3], d_v = s.v.shape()[3];
  check_update_rule(n);
  if (s.scale == 0) s.scale = 1 / std::sqrt(static_cast<double>(d_k));
  const Shape state{batch, heads, d_k, d_v};
  const Term start = n.has(3) ? converted(n.in(3), DType::kF32) : constant(n.b, {DType::kF32, state}, 0);
  const Term nothing = constant(n.b, {DType::kF32, {batch, q_heads, time, d_v}}, 0);
  const Values ends =
      ops::counted_loop(n.b, time, {start, nothing}, [&](GraphBuilder& b, Value* t, const Values& carried) {
        Term now(b, carried[0]);
        const Term y = step_of(b, s, t, now);
        Values starts(4, ops::constant(b, {DType::kI32, {}}, 0));
        starts[2] = t;
        return Values{now, ops::dynamic_update_slice(b, carried[1], reshape(y, {batch, q_heads, 1, d_v}), starts)};
      });
  const DType kept = n.has(3) ? dtype_of(n.in(3)) : dtype_of(n.in(0));
  return {converted(join_heads({n.b, ends[1]}), dtype_of(n.in(0))), converted(Term(n.b, ends[0]), kept)};
}

// A convolution of each channel over the past: what the kernel reaches back to is given and returned.
Items lower_causal_conv_with_state(NodeArgs& n) {
  const Term x = n.in(0), w = n.in(1);
  if (rank_of(x) != 3 || rank_of(w) != 3)
    n.fail("its operands must be [batch, channels, length] and [channels, 1, size]");
  const int64_t reach = w.shape()[2] - 1;
  const Term all = n.has(3) ? concat({n.in(3), x}, 2) : pad_axis(x, 0, 2, reach, 0);
  Term y = convolve(all, w, {{.size = w.shape()[2]}}, x.shape()[1]);
  if (n.has(2)) y = add_bias(y, n.in(2));
  const std::string activation = n.text("activation", "none");
  if (activation == "silu" || activation == "swish") {
    y = converted(widened(y) * sigmoid(widened(y)), dtype_of(x));
  } else if (activation != "none") {
    n.fail(fmt::format("activation = '{}': none, silu or swish", activation));
  }
  const int64_t length = all.shape()[2];
  return {y, slice(all, 2, length - reach, length)};
}

}  // namespace ingot::onnx
