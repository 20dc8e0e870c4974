// RNN, GRU and LSTM: a product for all inputs at once, then a loop over time.
#include <fmt/format.h>

#include <algorithm>

#include "aot/frontend/onnx/activations.h"
#include "aot/frontend/onnx/node_args.h"
#include "aot/ops/support/loop.h"

namespace ingot::onnx {
namespace {

// --- activations by name ---------------------------------------------------------------------------------------------

struct Activation {
  const char* name;  // in lower case
  bool has_alpha, has_beta;
  double alpha, beta;  // where none are given
  Term (*apply)(Term x, double alpha, double beta);
};

constexpr Activation kActivations[] = {
    {"relu", false, false, 0, 0, [](Term x, double, double) { return max(x, 0); }},
    {"tanh", false, false, 0, 0, [](Term x, double, double) { return tanh(x); }},
    {"sigmoid", false, false, 0, 0, [](Term x, double, double) { return sigmoid(x); }},
    {"affine", true, true, 1, 0, [](Term x, double alpha, double beta) { return x * alpha + beta; }},
    {"leakyrelu", true, false, 0.01, 0, [](Term x, double alpha, double) { return leaky_relu(x, alpha); }},
    {"thresholdedrelu", true, false, 1, 0, [](Term x, double alpha, double) { return thresholded_relu(x, alpha); }},
    {"scaledtanh", true, true, 1, 1, [](Term x, double alpha, double beta) { return tanh(x * beta) * alpha; }},
    {"hardsigmoid", true, true, 0.2, 0.5, hard_sigmoid},
    {"elu", true, false, 1, 0, [](Term x, double alpha, double) { return elu(x, alpha); }},
    {"softsign", false, false, 0, 0, [](Term x, double, double) { return x / (abs(x) + 1); }},
    {"softplus", false, false, 0, 0, [](Term x, double, double) { return softplus(x); }},
};

struct Gate {
  const Activation* activation;
  double alpha, beta, clip;  // clip 0: none

  Term operator()(Term x) const {
    if (clip > 0) x = max(min(x, clip), -clip);
    return activation->apply(x, alpha, beta);
  }
};

// The gates of every direction, `count` each. alpha and beta are taken by those that have one, in order.
std::vector<Gate> gates_of(NodeArgs& n, std::vector<std::string> names) {
  if (const Attribute* given = n.find("activations"); given && !given->strings.empty()) {
    if (given->strings.size() != names.size())
      n.fail(fmt::format("{} activations, not {}", given->strings.size(), names.size()));
    names.assign(given->strings.begin(), given->strings.end());
  }
  const std::vector<double> alphas = n.numbers("activation_alpha"), betas = n.numbers("activation_beta");
  size_t alpha = 0, beta = 0;
  std::vector<Gate> gates;
  for (std::string name : names) {
    std::ranges::transform(name, name.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
    const auto found = std::ranges::find(kActivations, name, [](const Activation& a) { return std::string(a.name); });
    if (found == std::end(kActivations)) n.fail(fmt::format("there is no activation '{}'", name));
    gates.push_back({found, found->alpha, found->beta, n.number("clip", 0)});
    if (found->has_alpha && alpha < alphas.size()) gates.back().alpha = alphas[alpha++];
    if (found->has_beta && beta < betas.size()) gates.back().beta = betas[beta++];
  }
  // Which of too many belongs to which activation is anybody's guess.
  if ((alpha > 0 && alpha < alphas.size()) || (beta > 0 && beta < betas.size()))
    n.fail("activation_alpha and activation_beta must have a value for each activation that takes one, and no more");
  return gates;
}

// --- the loop over time ----------------------------------------------------------------------------------------------

// x [..., k] by w [m, k] transposed.
Term by_rows(Term x, Term w) {
  return {x.builder(), ops::dot_general(x.builder(), x, w, {{}, {}, {rank_of(x) - 1}, {1}})};
}

Term plus_row(Term x, Term row) { return x + broadcast(row, x.shape()); }

// One direction's tensors, without the dimension of directions.
struct Direction {
  Term w, r, input_bias, state_bias;  // [gates H, I], [gates H, H], [gates H] twice
  std::vector<Gate> gates;
  std::optional<Term> peepholes;
};

// x_w [B, gates H]: the input's share with its bias; the states before; gives those after.
using Step = std::function<std::vector<Term>(const Direction& d, Term x_w, const std::vector<Term>& states)>;

struct Recurrence {
  NodeArgs& n;
  int gates;                      // parts of the weights
  int gate_functions;             // activations of one direction
  std::vector<int> first_states;  // the inputs that start each state
  Step step;
};

struct Sequence {
  Term x;                       // [T, B, I]
  std::optional<Term> lengths;  // [B]
};

Term rows_in_reverse(Term x, const std::optional<Term>& lengths) {
  if (!lengths) return reverse(x, 0);
  const Term at = counted(x, {DType::kI32, x.shape()}, 0);
  const Term length = broadcast(along(*lengths, 1, rank_of(x)), x.shape());
  return gather_elements(x, where(at < length, length - at - 1, at), 0);
}

struct Run {
  Term y;                    // [T, B, H]
  std::vector<Term> states;  // [B, H]
};

// Where time is not over for a row, the new values; else the old ones.
Term kept_after_end(Term alive, Term now, Term before) { return where(broadcast(alive, now.shape()), now, before); }

Run run_direction(const Recurrence& rec, const Direction& d, const Sequence& sequence, std::vector<Term> starts) {
  GraphBuilder& b = rec.n.b;
  const Term x_w = plus_row(by_rows(sequence.x, d.w), d.input_bias);
  const Shape& all = x_w.shape();
  const Shape state = starts[0].shape();
  Values carried;
  for (const Term& start : starts) carried.push_back(broadcast(start, state));
  carried.push_back(constant(b, {dtype_of(x_w), {all[0], state[0], state[1]}}, 0));
  const auto body = [&](GraphBuilder& inner, Value* t, const Values& values) {
    const Term zero(inner, ops::constant(inner, {DType::kI32, {}}, 0)), time(inner, t);
    const Term now =
        reshape({inner, ops::dynamic_slice(inner, x_w, {t, zero, zero}, {1, all[1], all[2]})}, {all[1], all[2]});
    std::vector<Term> states;
    for (size_t i = 0; i + 1 < values.size(); ++i) states.emplace_back(inner, values[i]);
    std::vector<Term> next = rec.step(d, now, states);
    Term y = next[0];
    if (sequence.lengths) {
      const Term lengths(inner, *sequence.lengths);
      const Term alive = unsqueeze(broadcast(time, lengths.shape()) < lengths, 1);
      for (size_t i = 0; i < next.size(); ++i) next[i] = kept_after_end(alive, next[i], states[i]);
      y = kept_after_end(alive, y, y.like(0));
    }
    Values results(next.begin(), next.end());
    results.push_back(ops::dynamic_update_slice(inner, values.back(), unsqueeze(y, 0), {t, zero, zero}));
    return results;
  };
  const Values ends = ops::counted_loop(b, all[0], carried, body);
  Run run{{b, ends.back()}, {}};
  for (size_t i = 0; i + 1 < ends.size(); ++i) run.states.emplace_back(b, ends[i]);
  return run;
}

// [directions, B, H] of an initial state, whose batch stands first where layout is 1; zeros where there is none.
Term first_state(const Recurrence& rec, int input, int64_t direction, const Shape& shape, DType dtype) {
  NodeArgs& n = rec.n;
  if (!n.has(input)) return constant(n.b, {dtype, shape}, 0);
  const Term given = n.flag("layout") ? swap_axes(n.in(input), 0, 1) : n.in(input);
  return reshape(at_index(given, 0, direction), shape);
}

Direction direction_of(const Recurrence& rec, int64_t k, const std::vector<Gate>& gates) {
  NodeArgs& n = rec.n;
  const Term r = at_index(n.in(2), 0, k);
  const int64_t rows = r.shape()[0], hidden = r.shape()[1];
  if (rows != rec.gates * hidden)
    n.fail(fmt::format("its recurrent weights are [{}, {}], not {} times as many rows as columns", rows, hidden,
                       rec.gates));
  const Term none = constant(n.b, {dtype_of(r), {rows}}, 0);
  const auto bias = [&](int64_t half) {
    return n.has(3) ? slice(at_index(n.in(3), 0, k), 0, half * rows, (half + 1) * rows) : none;
  };
  const auto first = gates.begin() + k * rec.gate_functions;
  Direction d{at_index(n.in(1), 0, k), r, bias(0), bias(1), {first, first + rec.gate_functions}, std::nullopt};
  if (rec.gates == 4 && n.has(7)) d.peepholes = at_index(n.in(7), 0, k);
  return d;
}

// Y [T, directions, B, H] and the last states [directions, B, H]; with layout 1 the batch comes first in all.
Items run(const Recurrence& rec, const std::vector<std::string>& activations) {
  NodeArgs& n = rec.n;
  const bool batch_first = n.flag("layout");
  const std::string direction = n.text("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    n.fail(fmt::format("direction = '{}'", direction));
  const int64_t directions = direction == "bidirectional" ? 2 : 1;
  Sequence sequence{batch_first ? swap_axes(n.in(0), 0, 1) : n.in(0), std::nullopt};
  if (rank_of(sequence.x) != 3 || rank_of(n.in(1)) != 3 || rank_of(n.in(2)) != 3)
    n.fail("its input and weights must have three dimensions");
  if (n.in(1).shape()[0] != directions || n.in(2).shape()[0] != directions)
    n.fail(fmt::format("its weights must be of {} direction(s)", directions));
  if (n.has(4)) sequence.lengths = converted(n.in(4), DType::kI32);
  std::vector<std::string> names;
  for (int64_t k = 0; k < directions; ++k) names.insert(names.end(), activations.begin(), activations.end());
  const std::vector<Gate> gates = gates_of(n, names);
  const Shape state{sequence.x.shape()[1], n.in(2).shape()[2]};
  if (n.integer("hidden_size", state[1]) != state[1])
    n.fail(fmt::format("hidden_size = {} for weights of {}", n.integer("hidden_size"), state[1]));
  std::vector<Term> ys;
  std::vector<std::vector<Term>> ends(rec.first_states.size());
  for (int64_t k = 0; k < directions; ++k) {
    const bool backwards = direction == "reverse" || k == 1;
    std::vector<Term> starts;
    for (const int input : rec.first_states) starts.push_back(first_state(rec, input, k, state, dtype_of(sequence.x)));
    Sequence own = sequence;
    if (backwards) own.x = rows_in_reverse(sequence.x, sequence.lengths);
    const Run made = run_direction(rec, direction_of(rec, k, gates), own, starts);
    ys.push_back(unsqueeze(backwards ? rows_in_reverse(made.y, sequence.lengths) : made.y, 1));
    for (size_t i = 0; i < ends.size(); ++i) ends[i].push_back(unsqueeze(made.states[i], 0));
  }
  Items results;
  const Term y = concat(ys, 1);
  results.emplace_back(batch_first ? transpose(y, {2, 0, 1, 3}) : y);
  for (const auto& end : ends) results.emplace_back(batch_first ? swap_axes(concat(end, 0), 0, 1) : concat(end, 0));
  return results;
}

Term part(Term x, int64_t k, int64_t hidden) { return slice(x, rank_of(x) - 1, k * hidden, (k + 1) * hidden); }

// --- the three cells -------------------------------------------------------------------------------------------------

// A weight of the outside, seen from within the loop.
Term inside(Term x, Term weight) { return {x.builder(), static_cast<Value*>(weight)}; }

Term share_of_state(const Direction& d, Term h) {
  return plus_row(by_rows(h, inside(h, d.r)), inside(h, d.state_bias));
}

std::vector<Term> rnn_step(const Direction& d, Term x, const std::vector<Term>& states) {
  return {d.gates[0](x + share_of_state(d, states[0]))};
}

// i, o, f, c; peepholes look at the cell: i and f at the old one, o at the new one.
std::vector<Term> lstm_step(const Direction& d, Term x, const std::vector<Term>& states, bool couples) {
  const Term h = states[0], c = states[1], all = x + share_of_state(d, h);
  const int64_t hidden = h.shape()[1];
  const auto peek = [&](Term gate, int64_t k, Term cell) {
    if (!d.peepholes) return gate;
    return gate + broadcast(part(inside(x, *d.peepholes), k, hidden), cell.shape()) * cell;
  };
  const Term i = d.gates[0](peek(part(all, 0, hidden), 0, c));
  const Term f = couples ? 1 - i : d.gates[0](peek(part(all, 2, hidden), 2, c));
  const Term next = f * c + i * d.gates[1](part(all, 3, hidden));
  const Term o = d.gates[0](peek(part(all, 1, hidden), 1, next));
  return {o * d.gates[2].activation->apply(next, d.gates[2].alpha, d.gates[2].beta), next};
}

// z, r, h
std::vector<Term> gru_step(const Direction& d, Term x, const std::vector<Term>& states, bool reset_last) {
  const Term h = states[0];
  const int64_t hidden = h.shape()[1];
  const Term r_weights = inside(h, d.r), bias = inside(h, d.state_bias);
  const auto rows = [&](Term t, int64_t from, int64_t to) { return slice(t, 0, from * hidden, to * hidden); };
  const auto share = [&](Term state, int64_t from, int64_t to) {
    return plus_row(by_rows(state, rows(r_weights, from, to)), rows(bias, from, to));
  };
  const Term gates = slice(x, 1, 0, 2 * hidden) + share(h, 0, 2);
  const Term z = d.gates[0](part(gates, 0, hidden)), r = d.gates[0](part(gates, 1, hidden)), x_h = part(x, 2, hidden);
  const Term candidate = d.gates[1](reset_last ? x_h + r * share(h, 2, 3) : x_h + share(r * h, 2, 3));
  return {(1 - z) * candidate + z * h};
}

}  // namespace

Items lower_rnn(NodeArgs& n) { return run({n, 1, 1, {5}, rnn_step}, {"Tanh"}); }

Items lower_gru(NodeArgs& n) {
  const bool reset_last = n.flag("linear_before_reset");
  const Step step = [&](const Direction& d, Term x, const std::vector<Term>& states) {
    return gru_step(d, x, states, reset_last);
  };
  return run({n, 3, 2, {5}, step}, {"Sigmoid", "Tanh"});
}

Items lower_lstm(NodeArgs& n) {
  const bool couples = n.flag("input_forget");
  const Step step = [&](const Direction& d, Term x, const std::vector<Term>& states) {
    return lstm_step(d, x, states, couples);
  };
  return run({n, 4, 3, {5, 6}, step}, {"Sigmoid", "Tanh", "Tanh"});
}

}  // namespace ingot::onnx
