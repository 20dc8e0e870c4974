// Einsum: products of tensors, summed over the letters that the result does not have.
#include <fmt/format.h>

#include <map>
#include <set>

#include "aot/base/contains.h"
#include "aot/frontend/onnx/node_args.h"

namespace ingot::onnx {
namespace {

// Letters are their characters; the dimensions of an ellipsis are numbers from 256 on, the last one first.
constexpr int kEllipsis = 256;

struct Labelled {
  Term term;
  std::vector<int> labels;
};

struct Equation {
  std::vector<std::string> inputs;
  std::optional<std::string> output;
};

Equation parse(NodeArgs& n) {
  std::string text = n.text("equation", "");
  std::erase(text, ' ');
  Equation equation;
  const size_t arrow = text.find("->");
  if (arrow != text.npos) equation.output = text.substr(arrow + 2);
  std::string inputs = text.substr(0, arrow);
  for (size_t comma = 0; (comma = inputs.find(',')) != inputs.npos; inputs.erase(0, comma + 1)) {
    equation.inputs.push_back(inputs.substr(0, comma));
  }
  equation.inputs.push_back(inputs);
  if (std::ssize(equation.inputs) != n.count())
    n.fail(fmt::format("'{}' is for {} inputs, not {}", text, equation.inputs.size(), n.count()));
  return equation;
}

// `extra` dimensions stand for the dots.
std::vector<int> labels_of(NodeArgs& n, const std::string& term, int extra) {
  std::vector<int> labels;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term[i] == '.') {
      if (term.substr(i, 3) != "...") n.fail(fmt::format("'{}' in its equation", term));
      for (int d = extra; d-- > 0;) labels.push_back(kEllipsis + d);
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(term[i]))) {
      labels.push_back(term[i]);
    } else {
      n.fail(fmt::format("'{}' in its equation", term));
    }
  }
  return labels;
}

int place(const std::vector<int>& labels, int label) {
  return static_cast<int>(std::ranges::find(labels, label) - labels.begin());
}

// The diagonal, where a letter stands twice.
Labelled diagonal(NodeArgs& n, Labelled x) {
  for (int d = static_cast<int>(x.labels.size()); d-- > 0;) {
    const int first = place(x.labels, x.labels[d]);
    if (first == d) continue;
    if (x.term.shape()[first] != x.term.shape()[d]) n.fail("a letter stands for dimensions of two sizes");
    const TensorType places{DType::kI32, x.term.shape()};
    const Term on = equal(counted(x.term, places, first), counted(x.term, places, d));
    const Term kept = reduce(kAdd, where(on, x.term, x.term.like(0)), {d});
    x.term = reshape(kept, without(kept.shape(), {d}));
    x.labels.erase(x.labels.begin() + d);
  }
  return x;
}

// Sums over what nobody needs.
Labelled summed(Labelled x, const std::set<int>& needed) {
  std::vector<int64_t> axes;
  std::vector<int> kept;
  for (int d = 0; d < std::ssize(x.labels); ++d) {
    if (needed.contains(x.labels[d])) {
      kept.push_back(x.labels[d]);
    } else {
      axes.push_back(d);
    }
  }
  const Term sum = reduce(kAdd, x.term, axes);
  return {reshape(sum, without(sum.shape(), axes)), kept};
}

// Without the dimensions of one element that broadcast to the other's.
Labelled without_ones(Labelled x, const Labelled& other) {
  std::vector<int64_t> dropped;
  std::vector<int> kept;
  for (int d = 0; d < std::ssize(x.labels); ++d) {
    const int at = place(other.labels, x.labels[d]);
    const bool broadcasts = at < std::ssize(other.labels) && x.term.shape()[d] == 1 && other.term.shape()[at] != 1;
    if (broadcasts) {
      dropped.push_back(d);
    } else {
      kept.push_back(x.labels[d]);
    }
  }
  return {reshape(x.term, without(x.term.shape(), dropped)), kept};
}

// Letters of both are multiplied where they are needed later, and else summed over.
Labelled product(Labelled x, Labelled y, const std::set<int>& needed) {
  const auto needed_beside = [&](const Labelled& other) {
    std::set<int> all = needed;
    all.insert(other.labels.begin(), other.labels.end());
    return all;
  };
  const Labelled x_all = without_ones(x, y), y_all = without_ones(y, x);
  x = summed(x_all, needed_beside(y_all));
  y = summed(y_all, needed_beside(x));
  ops::DotDims dims;
  std::vector<int> labels;
  for (const int label : x.labels) {
    if (!contains(y.labels, label)) continue;
    const bool is_batch = needed.contains(label);
    (is_batch ? dims.lhs_batch : dims.lhs_contract).push_back(place(x.labels, label));
    (is_batch ? dims.rhs_batch : dims.rhs_contract).push_back(place(y.labels, label));
    if (is_batch) labels.push_back(label);
  }
  for (const int label : x.labels) {
    if (!contains(y.labels, label)) labels.push_back(label);
  }
  for (const int label : y.labels) {
    if (!contains(x.labels, label)) labels.push_back(label);
  }
  GraphBuilder& b = x.term.builder();
  return {{b, ops::dot_general(b, x.term, y.term, dims)}, labels};
}

std::vector<int> output_labels(NodeArgs& n, const Equation& equation, const std::vector<Labelled>& inputs, int extra) {
  if (equation.output) return labels_of(n, *equation.output, extra);
  std::map<int, int> counts;
  for (const Labelled& input : inputs) {
    for (const int label : input.labels) ++counts[label];
  }
  std::vector<int> labels;
  for (int d = extra; d-- > 0;) labels.push_back(kEllipsis + d);
  for (const auto& [label, count] : counts) {
    if (label < kEllipsis && count == 1) labels.push_back(label);
  }
  return labels;
}

}  // namespace

Items lower_einsum(NodeArgs& n) {
  const Equation equation = parse(n);
  std::vector<Labelled> inputs;
  int most = 0;
  for (int i = 0; i < n.count(); ++i) {
    const std::string& term = equation.inputs[i];
    const bool has_dots = term.find('.') != term.npos;
    const int extra = has_dots ? rank_of(n.in(i)) - (static_cast<int>(term.size()) - 3) : 0;
    if (extra < 0) n.fail(fmt::format("'{}' for {}", term, to_string(type_of(n.in(i)))));
    inputs.push_back({n.in(i), labels_of(n, term, extra)});
    if (std::ssize(inputs.back().labels) != rank_of(n.in(i)))
      n.fail(fmt::format("'{}' for {}", term, to_string(type_of(n.in(i)))));
    most = std::max(most, extra);
  }
  const std::vector<int> wanted = output_labels(n, equation, inputs, most);
  for (Labelled& input : inputs) input = diagonal(n, input);
  Labelled result = inputs[0];
  for (size_t i = 1; i < inputs.size(); ++i) {
    std::set<int> needed(wanted.begin(), wanted.end());
    for (size_t k = i + 1; k < inputs.size(); ++k) needed.insert(inputs[k].labels.begin(), inputs[k].labels.end());
    result = product(result, inputs[i], needed);
  }
  result = summed(result, {wanted.begin(), wanted.end()});
  std::vector<int64_t> permutation;
  for (const int label : wanted) permutation.push_back(place(result.labels, label));
  if (wanted.size() != result.labels.size() || contains(permutation, std::ssize(result.labels))) {
    n.fail("its result has a letter that no input has, or has one twice");
  }
  return transpose(result.term, permutation);
}

}  // namespace ingot::onnx
