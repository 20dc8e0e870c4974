// Ops of two or more tensors that broadcast: arithmetic, comparisons, bits and truth values.
#include <fmt/format.h>

#include "aot/frontend/onnx/node_args.h"

namespace ingot::onnx {
namespace {

struct Pair {
  Term x, y;
};

Pair operands(NodeArgs& n) {
  const std::vector<Term> both = broadcast_all({n.in(0), n.in(1)});
  return {both[0], both[1]};
}

Items binary(NodeArgs& n, const OpDef& op) {
  const auto [x, y] = operands(n);
  return x.binary(op, y);
}

Items comparison(NodeArgs& n, std::string_view direction) {
  const auto [x, y] = operands(n);
  return x.compare(direction, y);
}

Term folded(NodeArgs& n, const OpDef& op) {
  const std::vector<Term> terms = broadcast_all(n.all());
  if (terms.empty()) n.fail("it has no input");
  Term result = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) result = result.binary(op, terms[i]);
  return result;
}

// The remainder with the sign of y, as in Python.
Term python_remainder(Term x, Term y) {
  const Term r = x.binary(kRemainder, y), zero = x.like(0);
  if (is_unsigned(dtype_of(x))) return r;
  const Term differs = both(r.compare("NE", zero), (r < zero).compare("NE", y < zero));
  return where(differs, r + y, r);
}

}  // namespace

Items lower_add(NodeArgs& n) { return binary(n, kAdd); }
Items lower_sub(NodeArgs& n) { return binary(n, kSubtract); }
Items lower_mul(NodeArgs& n) { return binary(n, kMultiply); }
Items lower_div(NodeArgs& n) { return binary(n, kDivide); }
Items lower_and(NodeArgs& n) { return binary(n, kAnd); }
Items lower_or(NodeArgs& n) { return binary(n, kOr); }
Items lower_xor(NodeArgs& n) { return binary(n, kXor); }
Items lower_equal(NodeArgs& n) { return comparison(n, "EQ"); }
Items lower_greater(NodeArgs& n) { return comparison(n, "GT"); }
Items lower_greater_or_equal(NodeArgs& n) { return comparison(n, "GE"); }
Items lower_less(NodeArgs& n) { return comparison(n, "LT"); }
Items lower_less_or_equal(NodeArgs& n) { return comparison(n, "LE"); }
Items lower_max(NodeArgs& n) { return folded(n, kMaximum); }
Items lower_min(NodeArgs& n) { return folded(n, kMinimum); }
Items lower_sum(NodeArgs& n) { return folded(n, kAdd); }
Items lower_mean(NodeArgs& n) { return folded(n, kAdd) / n.count(); }

Items lower_mod(NodeArgs& n) {
  const auto [x, y] = operands(n);
  return n.flag("fmod") ? x.binary(kRemainder, y) : python_remainder(x, y);
}

// The result has the base's type; the exponent may be of any.
Items lower_pow(NodeArgs& n) {
  const auto [x, y] = operands(n);
  const DType dtype = dtype_of(x);
  if (dtype == dtype_of(y) || is_float(dtype)) return pow(x, converted(y, dtype));
  if (is_integer(dtype_of(y))) return pow(x, converted(y, dtype));
  const DType wide = dtype_of(y) == DType::kF64 || info(dtype).bits > 32 ? DType::kF64 : DType::kF32;
  return converted(pow(converted(x, wide), converted(y, wide)), dtype);
}

Items lower_bit_shift(NodeArgs& n) {
  const std::string direction = n.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") n.fail(fmt::format("direction = '{}': LEFT or RIGHT", direction));
  return binary(n, direction == "LEFT" ? kShiftLeft : kShiftRightLogical);
}

Items lower_where(NodeArgs& n) {
  const std::vector<Term> terms = broadcast_all({n.in(0), n.in(1), n.in(2)});
  return where(terms[0], terms[1], terms[2]);
}

// Bounds are attributes up to opset 10, then inputs; either may be absent.
Items lower_clip(NodeArgs& n) {
  Term x = n.in(0);
  if (n.has("min")) x = max(x, n.number("min", 0));
  if (n.has(1)) x = max(x, broadcast(n.in(1), x.shape()));
  if (n.has("max")) x = min(x, n.number("max", 0));
  if (n.has(2)) x = min(x, broadcast(n.in(2), x.shape()));
  return x;
}

}  // namespace ingot::onnx
