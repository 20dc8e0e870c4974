// Elementwise functions: one StableHLO op each, or a few.
#include <fmt/format.h>

#include <cmath>

#include "aot/frontend/trace/broadcast.h"
#include "aot/frontend/trace/functions.h"

namespace ingot {
namespace {

Tensor binary(const OpDef& op, const char* symbol, const In& a, const Tensor& b) {
  const Scope scope(a.at);
  const Pair pair = broadcast_pair(a.tensor, b, symbol);
  return wrap(ops::binary(builder(), op, pair.a, pair.b));
}

// Numbers among themselves are computed now, in f64, and stay numbers:
// 1 - beta loses nothing to the dtype it meets later.
bool are_numbers(const In& a, const In& b) { return a.tensor.is_number() && b.tensor.is_number(); }

Tensor number_of(double value, const In& a, const In& b) {
  if (a.tensor.is_integral_number() && b.tensor.is_integral_number()) return static_cast<int64_t>(value);
  return value;
}

Tensor comparison(const char* direction, const char* symbol, const In& a, const In& b) {
  const Scope scope(a.at);
  const Pair pair = broadcast_pair(a.tensor, b.tensor, symbol);
  return wrap(ops::compare(builder(), direction, pair.a, pair.b));
}

Tensor unary(const OpDef& op, const In& x) {
  const Scope scope(x.at);
  return wrap(ops::unary(builder(), op, float_value(x.tensor)));
}

Tensor shifted(const OpDef& op, const In& x, int64_t bits) {
  const Scope scope(x.at);
  Value* value = value_of(x.tensor);
  return wrap(ops::binary(builder(), op, value, ops::constant(builder(), splat_int(value->type, bits))));
}

}  // namespace

Tensor operator+(const In& a, const In& b) {
  if (are_numbers(a, b)) return number_of(a.tensor.number() + b.tensor.number(), a, b);
  return binary(kAdd, "+", a, b.tensor);
}
Tensor operator-(const In& a, const In& b) {
  if (are_numbers(a, b)) return number_of(a.tensor.number() - b.tensor.number(), a, b);
  return binary(kSubtract, "-", a, b.tensor);
}
Tensor operator*(const In& a, const In& b) {
  if (are_numbers(a, b)) return number_of(a.tensor.number() * b.tensor.number(), a, b);
  return binary(kMultiply, "*", a, b.tensor);
}
Tensor operator&(const In& a, const In& b) { return binary(kAnd, "&", a, b.tensor); }
Tensor operator|(const In& a, const In& b) { return binary(kOr, "|", a, b.tensor); }
Tensor operator^(const In& a, const In& b) { return binary(kXor, "^", a, b.tensor); }
Tensor maximum(const In& a, const Tensor& b) { return binary(kMaximum, "maximum", a, b); }
Tensor minimum(const In& a, const Tensor& b) { return binary(kMinimum, "minimum", a, b); }
Tensor remainder(const In& a, const Tensor& b) { return binary(kRemainder, "remainder", a, b); }

Tensor operator/(const In& a, const In& b) {
  if (are_numbers(a, b)) return a.tensor.number() / b.tensor.number();
  const Scope scope(a.at);
  const DType dtype = promoted_dtype({&a.tensor, &b.tensor});
  const DType quotient = is_float(dtype) ? dtype : DType::kF32;
  const Shape shape = broadcast_shape({&a.tensor, &b.tensor}, "/");
  return wrap(ops::divide(builder(), broadcast(a.tensor, quotient, shape), broadcast(b.tensor, quotient, shape)));
}

Tensor operator<(const In& a, const In& b) { return comparison("LT", "<", a, b); }
Tensor operator<=(const In& a, const In& b) { return comparison("LE", "<=", a, b); }
Tensor operator>(const In& a, const In& b) { return comparison("GT", ">", a, b); }
Tensor operator>=(const In& a, const In& b) { return comparison("GE", ">=", a, b); }
Tensor operator==(const In& a, const In& b) { return comparison("EQ", "==", a, b); }
Tensor operator!=(const In& a, const In& b) { return comparison("NE", "!=", a, b); }

Tensor operator-(const In& x) {
  if (x.tensor.is_number()) return number_of(-x.tensor.number(), x, x);
  const Scope scope(x.at);
  return wrap(ops::negate(builder(), value_of(x.tensor)));
}
Tensor operator~(const In& x) {
  const Scope scope(x.at);
  return wrap(ops::unary(builder(), kNot, value_of(x.tensor)));
}
Tensor operator<<(const In& x, int64_t bits) { return shifted(kShiftLeft, x, bits); }
Tensor operator>>(const In& x, int64_t bits) {
  const Scope scope(x.at);
  return shifted(is_unsigned(x.tensor.dtype()) ? kShiftRightLogical : kShiftRightArithmetic, x, bits);
}
Tensor abs(const In& x) {
  const Scope scope(x.at);
  return wrap(ops::unary(builder(), kAbs, value_of(x.tensor)));
}
Tensor sign(const In& x) {
  const Scope scope(x.at);
  return wrap(ops::unary(builder(), kSign, value_of(x.tensor)));
}

Tensor exp(const In& x) { return unary(kExponential, x); }
Tensor expm1(const In& x) { return unary(kExponentialMinusOne, x); }
Tensor log(const In& x) { return unary(kLog, x); }
Tensor log1p(const In& x) { return unary(kLogPlusOne, x); }
Tensor sqrt(const In& x) { return unary(kSqrt, x); }
Tensor rsqrt(const In& x) { return unary(kRsqrt, x); }
Tensor floor(const In& x) { return unary(kFloor, x); }
Tensor ceil(const In& x) { return unary(kCeil, x); }
Tensor sin(const In& x) { return unary(kSine, x); }
Tensor cos(const In& x) { return unary(kCosine, x); }
Tensor tanh(const In& x) { return unary(kTanh, x); }
Tensor erf(const In& x) { return unary(kErf, x); }

Tensor square(const In& x) {
  const Scope scope(x.at);
  return x.tensor * x.tensor;
}

Tensor reciprocal(const In& x) {
  const Scope scope(x.at);
  return 1 / x.tensor;
}

// Small whole exponents and halves are products and roots: exact, cheap, and with a gradient at 0.
Tensor pow(const In& base, const Tensor& exponent) {
  const Scope scope(base.at);
  const Tensor& x = base.tensor;
  if (exponent.is_number() && !x.is_number()) {
    const double e = exponent.number();
    if (e == 0.5) return sqrt(x);
    if (e == -0.5) return rsqrt(x);
    if (e == 1) return x;
    if (e == 2) return x * x;
    if (e == 3) return x * x * x;
    if (e == -1) return reciprocal(x);
  }
  return binary(kPower, "pow", x, exponent);
}

Tensor where(const In& condition, const Tensor& a, const Tensor& b) {
  const Scope scope(condition.at);
  if (condition.tensor.dtype() != DType::kI1) {
    fail(fmt::format("where: the condition must be i1, not {}", to_string(condition.tensor.type())));
  }
  const DType dtype = promoted_dtype({&a, &b});
  const Shape shape = broadcast_shape({&condition.tensor, &a, &b}, "where");
  return wrap(ops::select(builder(), broadcast(condition.tensor, DType::kI1, shape), broadcast(a, dtype, shape),
                          broadcast(b, dtype, shape)));
}

Tensor clamp(const In& x, const Tensor& low, const Tensor& high) {
  const Scope scope(x.at);
  Tensor result = x.tensor;
  if (low.defined()) result = maximum(result, low);
  if (high.defined()) result = minimum(result, high);
  return result;
}

Tensor to(const In& x, DType dtype) {
  const Scope scope(x.at);
  return wrap(ops::convert(builder(), value_of(x.tensor, dtype), dtype));
}

Tensor bitcast(const In& x, DType dtype) {
  const Scope scope(x.at);
  Value* value = value_of(x.tensor);
  return wrap(builder().make(kBitcastConvert, {value}, {}, {{dtype, value->type.shape}}));
}

// A reshape to the same shape is another name for the value: the one that gradients stop at.
Tensor detach(const In& x) {
  const Scope scope(x.at);
  Value* value = value_of(x.tensor);
  Value* renamed = builder().make(kReshape, {value}, {}, {value->type});
  Trace::current().stop_gradient(renamed);
  return wrap(renamed);
}

}  // namespace ingot
