#include "aot/loops/element.h"

namespace ingot::loops {
namespace {

// Ops that give a value of the operands' own dtype without rounding: their results need none for f16 and bf16.
bool is_exact(ScalarOp op) {
  switch (op) {
    case ScalarOp::kNegate:
    case ScalarOp::kAbs:
    case ScalarOp::kMaximum:
    case ScalarOp::kMinimum:
    case ScalarOp::kFloor:
    case ScalarOp::kCeil:
    case ScalarOp::kRoundEven:
    case ScalarOp::kRemainder:
    case ScalarOp::kSelect:
      return true;
    default:
      return false;
  }
}

}  // namespace

Expr rounded(ElementArgs& args, Expr value) {
  return register_dtype(args.dtype()) == args.dtype() ? value : args.b.round(args.dtype(), std::move(value));
}

Expr elementwise(ElementArgs& args, ScalarOp op) {
  std::vector<Expr> operands;
  for (size_t i = 0; i < args.op.operands.size(); ++i) operands.push_back(args.operand(static_cast<int>(i)));
  Expr value = args.b.apply(op, std::move(operands));
  return is_exact(op) ? value : rounded(args, std::move(value));
}

Index flatten(const std::vector<Index>& index, const Shape& shape) {
  const Shape strides = row_major_strides(shape);
  Index flat = 0;
  for (size_t d = 0; d < index.size(); ++d) flat = flat + index[d] * strides[d];
  return flat;
}

std::vector<Index> unflatten(KernelBuilder& b, const Index& flat, const Shape& shape) {
  std::vector<Index> index(shape.size());
  if (element_count(shape) == 0) return index;
  // From the last dimension up; what is left after all longer ones is the index in the outermost of them.
  Index rest = flat;
  int64_t outer_count = element_count(shape);
  for (size_t d = shape.size(); d-- > 0;) {
    outer_count /= shape[d];
    if (outer_count == 1) {
      index[d] = rest;
      break;
    }
    index[d] = b.modulo(rest, shape[d]);
    rest = b.divide(rest, shape[d]);
  }
  return index;
}

std::vector<Index> reshaped(KernelBuilder& b, const std::vector<Index>& index, const Shape& from, const Shape& to) {
  // A scalar that stands for all elements has no index.
  if (index.empty() || element_count(to) == 0) return std::vector<Index>(to.size());
  std::vector<Index> result;
  // Group by group of the fewest dimensions that hold equally many elements.
  for (size_t f = 0, t = 0; f < from.size() || t < to.size();) {
    std::vector<Index> inner;
    Shape left, right;
    int64_t left_count = 1, right_count = 1;
    const auto take_left = [&] { inner.push_back(index[f]), left.push_back(from[f]), left_count *= from[f++]; };
    const auto take_right = [&] { right.push_back(to[t]), right_count *= to[t++]; };
    const bool is_unit_left = f < from.size() && from[f] == 1, is_unit_right = t < to.size() && to[t] == 1;
    if (is_unit_left || is_unit_right) {
      is_unit_left ? take_left() : take_right();
    } else {
      take_left();
      take_right();
    }
    while (left_count != right_count) left_count < right_count ? take_left() : take_right();
    const bool is_kept = left == right;
    const std::vector<Index> outer = is_kept ? inner : unflatten(b, flatten(inner, left), right);
    result.insert(result.end(), outer.begin(), outer.end());
  }
  return result;
}

}  // namespace ingot::loops
