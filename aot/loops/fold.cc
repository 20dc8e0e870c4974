#include "aot/loops/fold.h"

#include <array>

namespace ingot::loops {
namespace {

using enum ScalarOp;

// x op c == x for every x, where c is the operand on the right.
bool is_right_identity(ScalarOp op, DType dtype, Bits c) {
  const auto is_float_value = [&](double value) { return is_float(dtype) && c == bits_of_float(dtype, value); };
  const auto is_int_value = [&](int64_t value) { return !is_float(dtype) && c == bits_of_int(dtype, value); };
  switch (op) {
    case kAdd:
      return is_float_value(-0.0) || is_int_value(0);
    case kSubtract:
      return is_float_value(0.0) || is_int_value(0);
    case kMultiply:
    case kDivide:
      return is_float_value(1) || is_int_value(1);
    case kOr:
    case kXor:
    case kShiftLeft:
    case kShiftRightLogical:
    case kShiftRightArithmetic:
      return is_int_value(0);
    case kAnd:
      return is_int_value(-1);
    default:
      return false;
  }
}

bool is_commutative(ScalarOp op) {
  switch (op) {
    case kAdd:
    case kMultiply:
    case kMaximum:
    case kMinimum:
    case kAnd:
    case kOr:
    case kXor:
      return true;
    default:
      return false;
  }
}

// x op c == c for every x.
bool is_absorbing(ScalarOp op, DType dtype, Bits c) {
  if (is_float(dtype)) return false;
  switch (op) {
    case kMultiply:
    case kAnd:
      return c == 0;
    case kOr:
      return c == bits_of_int(dtype, -1);
    default:
      return false;
  }
}

Expr simplified_binary(ScalarOp op, const Expr& a, const Expr& b) {
  const DType dtype = b->dtype;
  const auto constant_b = constant_bits(b);
  if (constant_b && is_right_identity(op, dtype, *constant_b)) return a;
  if (constant_b && is_absorbing(op, dtype, *constant_b)) return b;
  if (is_commutative(op)) {
    const auto constant_a = constant_bits(a);
    if (constant_a && is_right_identity(op, dtype, *constant_a)) return b;
    if (constant_a && is_absorbing(op, dtype, *constant_a)) return a;
  }
  const bool is_idempotent = op == kMaximum || op == kMinimum || op == kAnd || op == kOr;
  return is_idempotent && a == b ? a : nullptr;
}

bool is_folded(ScalarOp op) { return info(op).is_primitive; }

}  // namespace

Expr make_constant(DType dtype, Bits bits) {
  ExprNode node;
  node.kind = ExprKind::kConstant;
  node.dtype = dtype;
  node.bits = bits;
  return std::make_shared<const ExprNode>(std::move(node));
}

std::optional<Bits> constant_bits(const Expr& value) {
  if (value->kind == ExprKind::kSplat) return constant_bits(value->args[0]);
  if (value->kind == ExprKind::kConstant) return value->bits;
  return std::nullopt;
}

Expr simplified(ScalarOp op, std::span<const Expr> args) {
  const DType dtype = args.back()->dtype;
  std::array<Bits, 3> bits{};
  bool all_constant = true;
  for (size_t k = 0; k < args.size(); ++k) {
    const auto constant = constant_bits(args[k]);
    all_constant &= constant.has_value();
    bits[k] = constant.value_or(0);
  }
  if (all_constant && is_folded(op)) {
    return make_constant(result_dtype(op, dtype), apply_scalar(op, dtype, std::span(bits).first(args.size())));
  }
  if (op == kSelect) {
    if (const auto condition = constant_bits(args[0])) return *condition ? args[1] : args[2];
    return args[1] == args[2] ? args[1] : nullptr;
  }
  if (args.size() == 2) return simplified_binary(op, args[0], args[1]);
  const bool undoes_itself = op == kNegate || op == kNot;
  if (undoes_itself && args[0]->kind == ExprKind::kApply && args[0]->op == op) return args[0]->args[0];
  return nullptr;
}

}  // namespace ingot::loops
