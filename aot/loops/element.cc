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

}  // namespace ingot::loops
