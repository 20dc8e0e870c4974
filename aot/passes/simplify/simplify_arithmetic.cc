#include <cmath>
#include <limits>

#include "aot/analysis/walk.h"
#include "aot/passes/simplify/simplify_rules.h"

namespace ingot {
namespace {

bool is_float_op(const Op& op) { return is_float(op.result()->type.dtype); }

// The only operand that is not `number`, when the other one is: for commutative ops with their constant on the right.
Value* other_than(const Op& op, double number) { return is_all(op.operand(1), number) ? op.operand(0) : nullptr; }

Value* constant_to_the_right(GraphBuilder& b, const Op& op) {
  if (!op.def->is_commutative || op.operands.size() != 2) return nullptr;
  if (!constant_of(op.operand(0)) || constant_of(op.operand(1))) return nullptr;
  return b.create(*op.def, {op.operand(1), op.operand(0)}, op.attr_map, {op.result()->type})->result();
}

Value* add_zero(GraphBuilder&, const Op& op) { return other_than(op, is_float_op(op) ? -0.0 : 0.0); }

Value* add_negated(GraphBuilder& b, const Op& op) {
  const Op* negate = made_by(op.operand(1), kNegate);
  return negate ? ops::subtract(b, op.operand(0), negate->operand(0)) : nullptr;
}

Value* negated_plus(GraphBuilder& b, const Op& op) {
  const Op* negate = made_by(op.operand(0), kNegate);
  return negate ? ops::subtract(b, op.operand(1), negate->operand(0)) : nullptr;
}

Value* subtract_zero(GraphBuilder&, const Op& op) { return other_than(op, 0.0); }

Value* subtract_negated(GraphBuilder& b, const Op& op) {
  const Op* negate = made_by(op.operand(1), kNegate);
  return negate ? ops::add(b, op.operand(0), negate->operand(0)) : nullptr;
}

Value* subtract_itself(GraphBuilder& b, const Op& op) {
  if (is_float_op(op) || op.operand(0) != op.operand(1)) return nullptr;
  return ops::constant(b, splat_int(op.result()->type, 0));
}

Value* times_one(GraphBuilder&, const Op& op) { return other_than(op, 1.0); }

Value* times_zero(GraphBuilder&, const Op& op) {
  return !is_float_op(op) && is_all(op.operand(1), 0) ? op.operand(1) : nullptr;
}

Value* divide_by_one(GraphBuilder&, const Op& op) { return other_than(op, 1.0); }

Value* divide_by_power_of_two(GraphBuilder& b, const Op& op) {
  const auto c = common_float(op.operand(1));
  if (!c) return nullptr;
  int exponent = 0;
  if (std::fabs(std::frexp(*c, &exponent)) != 0.5 || std::abs(exponent) > 14)
    return nullptr;  // f16 has the least range
  return ops::multiply(b, op.operand(0), ops::constant_like(b, op.result(), 1 / *c));
}

Value* integer_power(GraphBuilder& b, const Op& op) {
  const auto n = common_float(op.operand(1));
  Value* x = op.operand(0);
  if (!n) return nullptr;
  if (*n == 0) return ops::constant_like(b, x, 1);
  if (*n == 1) return x;
  if (*n == 2) return ops::multiply(b, x, x);
  if (*n == -1) return ops::divide(b, ops::constant_like(b, x, 1), x);
  // Two roundings: at most 1 ulp, and 1.5 for the fourth power.
  if (*n == 3 && op.def->ulp.f32 >= 1) return ops::multiply(b, ops::multiply(b, x, x), x);
  if (*n == 4 && op.def->ulp.f32 >= 1.5) {
    Value* square = ops::multiply(b, x, x);
    return ops::multiply(b, square, square);
  }
  return nullptr;
}

Value* undone_by_itself(GraphBuilder&, const Op& op) {
  const Op* inner = made_by(op.operand(0), *op.def);
  return inner ? inner->operand(0) : nullptr;
}

Value* same_operands(GraphBuilder&, const Op& op) { return op.operand(0) == op.operand(1) ? op.operand(0) : nullptr; }

// The value of a dtype that maximum (low) or minimum (high) never chooses over another.
double extreme(DType dtype, bool low) {
  if (is_float(dtype)) return low ? -INFINITY : INFINITY;
  const int bits = info(dtype).bits;
  if (is_signed(dtype)) return low ? -std::ldexp(1.0, bits - 1) : std::ldexp(1.0, bits - 1) - 1;
  return low ? 0 : std::ldexp(1.0, bits) - 1;
}

bool is_exact_extreme(DType dtype) { return is_float(dtype) || info(dtype).bits <= 32; }

Value* maximum_with_lowest(GraphBuilder&, const Op& op) {
  const DType dtype = op.result()->type.dtype;
  return is_exact_extreme(dtype) ? other_than(op, extreme(dtype, true)) : nullptr;
}

Value* minimum_with_highest(GraphBuilder&, const Op& op) {
  const DType dtype = op.result()->type.dtype;
  return is_exact_extreme(dtype) ? other_than(op, extreme(dtype, false)) : nullptr;
}

double all_ones(DType dtype) { return is_signed(dtype) ? -1 : extreme(dtype, false); }

Value* and_with_ones(GraphBuilder&, const Op& op) { return other_than(op, all_ones(op.result()->type.dtype)); }
Value* and_with_zero(GraphBuilder&, const Op& op) { return is_all(op.operand(1), 0) ? op.operand(1) : nullptr; }
Value* or_with_zero(GraphBuilder&, const Op& op) { return other_than(op, 0); }
Value* or_with_ones(GraphBuilder&, const Op& op) {
  return is_all(op.operand(1), all_ones(op.result()->type.dtype)) ? op.operand(1) : nullptr;
}

Value* compare_with_itself(GraphBuilder& b, const Op& op) {
  if (op.operand(0) != op.operand(1) || is_float(op.operand(0)->type.dtype)) return nullptr;
  const std::string& direction = op.attrs().string("comparison_direction");
  const bool truth = direction == "EQ" || direction == "LE" || direction == "GE";
  return ops::constant(b, splat_int(op.result()->type, truth));
}

bool comes_before(const Op& first, const Op& second) {
  if (first.block != second.block) return false;
  for (auto at = first.self; at != first.block->ops.end(); ++at) {
    if (at->get() == &second) return true;
  }
  return false;
}

// The mask of a relu needs no input of the relu then: its output, which the backward pass reads anyway, says the same.
Value* compare_clipped(GraphBuilder& b, const Op& op) {
  const std::string& direction = op.attrs().string("comparison_direction");
  const bool above = direction == "GT" || direction == "LE";
  if (!above && direction != "LT" && direction != "GE") return nullptr;
  Value* x = op.operand(0);
  Value* bound = op.operand(1);
  for (const Value::Use& use : x->uses) {
    const Op& clip = *use.op;
    if (!clip.is(above ? kMaximum : kMinimum)) continue;
    const Value* other = clip.operand(1 - use.operand_index);
    const LiteralRef a = constant_of(other), c = constant_of(bound);
    if (other != bound && !(a && c && *a == *c)) continue;
    if (!comes_before(clip, op)) continue;
    return b.make(*op.def, {clip.result(), bound}, op.attr_map, {op.result()->type});
  }
  return nullptr;
}

// A relu that keeps NaN is a select: of the bound where `mask` holds and of x elsewhere, or the other way round where
// the comparison is strict. Then its result compares with the bound as x does, at the bound and at NaN too.
bool clips_by(const Op& clip, const Op& mask) {
  const std::string& direction = mask.attrs().string("comparison_direction");
  const bool holds_at_bound = direction == "LE" || direction == "GE";
  if (!holds_at_bound && direction != "LT" && direction != "GT") return false;
  if (!clip.is(kSelect) || clip.operand(0) != mask.result()) return false;
  const Value* bound = clip.operand(holds_at_bound ? 1 : 2);
  const LiteralRef a = constant_of(bound), c = constant_of(mask.operand(1));
  return clip.operand(holds_at_bound ? 2 : 1) == mask.operand(0) && (bound == mask.operand(1) || (a && c && *a == *c));
}

// The backward pass of such a relu reads its output.
Value* select_clipped(GraphBuilder& b, const Op& op) {
  const Op* mask = made_by(op.operand(0), kCompare);
  if (!mask) return nullptr;
  for (const Value::Use& use : mask->result()->uses) {
    const Op& clip = *use.op;
    if (&clip == &op || !clips_by(clip, *mask) || clips_by(op, *mask) || !comes_before(clip, op)) continue;
    Value* mask_of_result =
        b.make(*mask->def, {clip.result(), mask->operand(1)}, mask->attr_map, {mask->result()->type});
    return ops::select(b, mask_of_result, op.operand(1), op.operand(2));
  }
  return nullptr;
}

Value* select_constant(GraphBuilder&, const Op& op) {
  if (is_all(op.operand(0), 1)) return op.operand(1);
  return is_all(op.operand(0), 0) ? op.operand(2) : nullptr;
}

Value* select_same(GraphBuilder&, const Op& op) { return op.operand(1) == op.operand(2) ? op.operand(1) : nullptr; }

Value* select_truth(GraphBuilder&, const Op& op) {
  if (op.operand(0)->type != op.result()->type || !is_all(op.operand(1), 1) || !is_all(op.operand(2), 0))
    return nullptr;
  return op.operand(0);
}

Value* select_negated(GraphBuilder& b, const Op& op) {
  const Op* negated = made_by(op.operand(0), kNot);
  return negated ? ops::select(b, negated->operand(0), op.operand(2), op.operand(1)) : nullptr;
}

// Every value of `from` is a value of `to`.
bool is_lossless(DType from, DType to) {
  if (from == to) return true;
  const DTypeInfo& a = info(from);
  const DTypeInfo& b = info(to);
  if (is_bool(from)) return true;
  if (is_bool(to)) return false;
  const auto mantissa_bits = [](DType d) {
    return d == DType::kF64 ? 53 : d == DType::kF32 ? 24 : d == DType::kF16 ? 11 : 8;
  };
  if (is_float(to)) {
    if (!is_float(from)) return a.bits <= mantissa_bits(to) && to != DType::kF16;
    return b.bits > a.bits;
  }
  if (is_float(from)) return false;
  if (is_signed(to)) return a.bits + (is_unsigned(from) ? 1 : 0) <= b.bits;
  return is_unsigned(from) && a.bits <= b.bits;
}

Value* convert_nothing(GraphBuilder&, const Op& op) {
  return op.operand(0)->type == op.result()->type ? op.operand(0) : nullptr;
}

Value* convert_converted(GraphBuilder& b, const Op& op) {
  const Op* inner = made_by(op.operand(0), kConvert);
  if (!inner) return nullptr;
  const DType from = inner->operand(0)->type.dtype, through = inner->result()->type.dtype, to = op.result()->type.dtype;
  if (!is_lossless(from, through)) return nullptr;
  // Float to integer saturates but integer to integer wraps: they agree only where nothing is lost.
  if (is_float(through) && !is_float(from) && is_integer(to) && !is_lossless(from, to)) return nullptr;
  return ops::convert(b, inner->operand(0), to);
}

// The value of `dtype` that a wider integer is a convert of, or equal to, being a constant; null when there is none.
Value* before_widening(GraphBuilder& b, const Value* wide, DType dtype) {
  if (const Op* convert = made_by(wide, kConvert)) {
    return convert->operand(0)->type.dtype == dtype ? convert->operand(0) : nullptr;
  }
  const LiteralRef literal = constant_of(wide);
  if (!literal || !literal->is_splat) return nullptr;
  const auto number = static_cast<double>(literal->int_at(0));
  if (number < extreme(dtype, true) || number > extreme(dtype, false)) return nullptr;
  return ops::constant(b, splat_int({dtype, wide->type.shape}, literal->int_at(0)));
}

// kind(x, y) where `product`, of at least `bits` bits, is that of integers x and y of `dtype`, widened; else null.
Value* half_of_product(GraphBuilder& b, const OpDef& kind, const Value* product, DType dtype, int bits) {
  const Op* multiply = made_by(product, kMultiply);
  if (!multiply || !is_integer(dtype) || is_bool(dtype) || !is_integer(product->type.dtype) ||
      info(product->type.dtype).bits < bits) {
    return nullptr;
  }
  Value* x = before_widening(b, multiply->operand(0), dtype);
  Value* y = x ? before_widening(b, multiply->operand(1), dtype) : nullptr;
  return y ? b.make(kind, {x, y}) : nullptr;
}

Value* convert_product(GraphBuilder& b, const Op& op) {
  const DType dtype = op.result()->type.dtype;
  return half_of_product(b, kMultiply, op.operand(0), dtype, info(dtype).bits + 1);
}

Value* convert_shifted_product(GraphBuilder& b, const Op& op) {
  const DType dtype = op.result()->type.dtype;
  const Op* shift = made_by(op.operand(0), kShiftRightLogical);
  if (!shift || !is_all(shift->operand(1), info(dtype).bits)) return nullptr;
  return half_of_product(b, kMulhi, shift->operand(0), dtype, 2 * info(dtype).bits);
}

// The operand of a broadcast that makes elements equal, when `value` is one.
const Op* growing_broadcast(const Value* value) {
  const Op* broadcast = made_by(value, kBroadcastInDim);
  return broadcast && broadcast->operand(0)->type.elements() < broadcast->result()->type.elements() ? broadcast
                                                                                                    : nullptr;
}

Value* elementwise_of_broadcasts(GraphBuilder& b, const Op& op) {
  if (!op.def->is_elementwise || op.operands.empty()) return nullptr;
  const Op* first = nullptr;
  for (Value* operand : op.operands) {
    if (operand->type.shape != op.result()->type.shape) return nullptr;
    if (const LiteralRef literal = constant_of(operand); literal && literal->is_splat) continue;
    const Op* broadcast = growing_broadcast(operand);
    if (!broadcast) return nullptr;
    if (!first) first = broadcast;
    if (broadcast->operand(0)->type.shape != first->operand(0)->type.shape) return nullptr;
    if (broadcast->attrs().ints("broadcast_dimensions") != first->attrs().ints("broadcast_dimensions")) return nullptr;
  }
  if (!first) return nullptr;
  const Shape small = first->operand(0)->type.shape;
  Values operands;
  for (Value* operand : op.operands) {
    const LiteralRef literal = constant_of(operand);
    operands.push_back(literal ? ops::constant(b, with_shape(*literal, small)) : operand->op->operand(0));
  }
  Value* result = b.make(*op.def, operands, op.attr_map, {{op.result()->type.dtype, small}});
  return ops::broadcast_in_dim(b, result, op.result()->type.shape, first->attrs().ints("broadcast_dimensions"));
}

// Reshapes sink, so that what JAX computes once as [C] and once as [1,C,1,1] is found to be the same.
Value* elementwise_of_reshapes(GraphBuilder& b, const Op& op) {
  if (!op.def->is_elementwise || op.operands.empty()) return nullptr;
  const Value* first = nullptr;
  for (Value* operand : op.operands) {
    if (operand->type.shape != op.result()->type.shape) return nullptr;
    if (const LiteralRef literal = constant_of(operand); literal && literal->is_splat) continue;
    const Op* reshape = made_by(operand, kReshape);
    if (!reshape) return nullptr;
    if (!first) first = reshape->operand(0);
    if (reshape->operand(0)->type.shape != first->type.shape) return nullptr;
  }
  if (!first) return nullptr;
  const Shape& shape = first->type.shape;
  Values operands;
  for (Value* operand : op.operands) {
    const LiteralRef literal = constant_of(operand);
    operands.push_back(literal ? ops::constant(b, with_shape(*literal, shape)) : operand->op->operand(0));
  }
  return ops::reshape(b, b.make(*op.def, operands, op.attr_map, {{op.result()->type.dtype, shape}}),
                      op.result()->type.shape);
}

constexpr SimplifyRule kArithmeticRules[] = {
    {nullptr, "c ∘ x == x ∘ c, ∘ commutative", constant_to_the_right},
    {nullptr, "f(broadcast x, broadcast y) == broadcast f(x, y), f elementwise", elementwise_of_broadcasts},
    {nullptr, "f(reshape x, reshape y) == reshape f(x, y), f elementwise", elementwise_of_reshapes},
    {&kAdd, "x + 0 == x; floats: only x + -0", add_zero},
    {&kAdd, "x + -y == x - y", add_negated},
    {&kAdd, "-x + y == y - x", negated_plus},
    {&kSubtract, "x - 0 == x", subtract_zero},
    {&kSubtract, "x - -y == x + y", subtract_negated},
    {&kSubtract, "x - x == 0, integers", subtract_itself},
    {&kMultiply, "x * 1 == x", times_one},
    {&kMultiply, "x * 0 == 0, integers", times_zero},
    {&kDivide, "x / 1 == x", divide_by_one},
    {&kDivide, "x / 2^n == x * 2^-n, floats", divide_by_power_of_two},
    {&kPower, "x^0 == 1, x^1 == x, x^2 == x*x, x^-1 == 1/x, ...", integer_power},
    {&kNegate, "--x == x", undone_by_itself},
    {&kNot, "not not x == x", undone_by_itself},
    {&kMaximum, "max(x, x) == x", same_operands},
    {&kMaximum, "max(x, lowest) == x", maximum_with_lowest},
    {&kMinimum, "min(x, x) == x", same_operands},
    {&kMinimum, "min(x, highest) == x", minimum_with_highest},
    {&kAnd, "x & x == x", same_operands},
    {&kAnd, "x & 1...1 == x", and_with_ones},
    {&kAnd, "x & 0 == 0", and_with_zero},
    {&kOr, "x | x == x", same_operands},
    {&kOr, "x | 0 == x", or_with_zero},
    {&kOr, "x | 1...1 == 1...1", or_with_ones},
    {&kXor, "x ^ 0 == x", or_with_zero},
    {&kCompare, "x == x is true, x < x is false, ...; not floats: NaN", compare_with_itself},
    {&kCompare, "x > c == max(x, c) > c and x <= c == max(x, c) <= c, likewise for min, where there is one",
     compare_clipped},
    {&kSelect, "select(true, x, y) == x, select(false, x, y) == y", select_constant},
    {&kSelect, "select(p, x, x) == x", select_same},
    {&kSelect, "select(p, true, false) == p", select_truth},
    {&kSelect, "select(x <= c, y, z) == select(r <= c, y, z), r = select(x <= c, c, x), where there is one",
     select_clipped},
    {&kSelect, "select(not p, x, y) == select(p, y, x)", select_negated},
    {&kConvert, "convert x to its own type == x", convert_nothing},
    {&kConvert, "convert(convert x) == convert x, when the inner one loses nothing", convert_converted},
    {&kConvert, "convert(convert x * convert y) == x * y, integers, in the type of x and y", convert_product},
    {&kConvert, "convert(convert x * convert y >> n) == mulhi(x, y), integers of n bits", convert_shifted_product},
};

}  // namespace

std::span<const SimplifyRule> arithmetic_rules() { return kArithmeticRules; }

}  // namespace ingot
