// An expression with arithmetic, so that formulas over lanes read as formulas: where(x < 0, -y, y).
#pragma once

#include "aot/loops/builder.h"

namespace ingot::loops {

// Numbers become constants of the other side's dtype. Operands of one operator have one dtype.
class Scalar {
 public:
  Scalar(KernelBuilder& b, Expr expr) : b_(&b), expr_(std::move(expr)) {}

  operator const Expr&() const { return expr_; }  // NOLINT: a scalar is its expression
  KernelBuilder& builder() const { return *b_; }
  DType dtype() const { return expr_->dtype; }

  Scalar like(double value) const {
    return {*b_,
            is_float(dtype()) ? b_->constant(dtype(), value) : b_->constant_int(dtype(), static_cast<int64_t>(value))};
  }
  Scalar bits(uint64_t pattern) const {
    return {*b_, b_->constant_bits(dtype(), pattern)};
  }  // a constant of this dtype
  Scalar apply(ScalarOp op) const { return {*b_, b_->apply(op, {expr_})}; }
  Scalar apply(ScalarOp op, const Scalar& y) const { return {*b_, b_->apply(op, {expr_, y.expr_})}; }
  Scalar convert(DType to) const { return {*b_, b_->convert(to, expr_)}; }
  Scalar bitcast(DType to) const { return {*b_, b_->bitcast(to, expr_)}; }

 private:
  KernelBuilder* b_;
  Expr expr_;
};

#define INGOT_SCALAR_OPERATOR(symbol, op)                                                              \
  inline Scalar operator symbol(const Scalar& x, const Scalar& y) { return x.apply(ScalarOp::op, y); } \
  inline Scalar operator symbol(const Scalar& x, double y) { return x symbol x.like(y); }              \
  inline Scalar operator symbol(double x, const Scalar& y) { return y.like(x) symbol y; }
INGOT_SCALAR_OPERATOR(+, kAdd)
INGOT_SCALAR_OPERATOR(-, kSubtract)
INGOT_SCALAR_OPERATOR(*, kMultiply)
INGOT_SCALAR_OPERATOR(/, kDivide)
INGOT_SCALAR_OPERATOR(&, kAnd)
INGOT_SCALAR_OPERATOR(|, kOr)
INGOT_SCALAR_OPERATOR(^, kXor)
INGOT_SCALAR_OPERATOR(<<, kShiftLeft)
INGOT_SCALAR_OPERATOR(>>, kShiftRightLogical)
INGOT_SCALAR_OPERATOR(<, kLess)
INGOT_SCALAR_OPERATOR(<=, kLessEqual)
INGOT_SCALAR_OPERATOR(>, kGreater)
INGOT_SCALAR_OPERATOR(>=, kGreaterEqual)
#undef INGOT_SCALAR_OPERATOR

inline Scalar operator-(const Scalar& x) { return x.apply(ScalarOp::kNegate); }
inline Scalar operator!(const Scalar& x) { return x.apply(ScalarOp::kNot); }
inline Scalar equal(const Scalar& x, const Scalar& y) { return x.apply(ScalarOp::kEqual, y); }
inline Scalar equal(const Scalar& x, double y) { return equal(x, x.like(y)); }
inline Scalar is_nan(const Scalar& x) { return x.apply(ScalarOp::kNotEqual, x); }
inline Scalar abs(const Scalar& x) { return x.apply(ScalarOp::kAbs); }
inline Scalar floor(const Scalar& x) { return x.apply(ScalarOp::kFloor); }
inline Scalar round_even(const Scalar& x) { return x.apply(ScalarOp::kRoundEven); }
inline Scalar sqrt(const Scalar& x) { return x.apply(ScalarOp::kSqrt); }
inline Scalar maximum(const Scalar& x, const Scalar& y) { return x.apply(ScalarOp::kMaximum, y); }
inline Scalar minimum(const Scalar& x, const Scalar& y) { return x.apply(ScalarOp::kMinimum, y); }
inline Scalar shift_right_arithmetic(const Scalar& x, double bits) {
  return x.apply(ScalarOp::kShiftRightArithmetic, x.like(bits));
}

// x * y + z, rounded once.
inline Scalar fma(const Scalar& x, const Scalar& y, const Scalar& z) {
  return {x.builder(), x.builder().apply(ScalarOp::kFma, {x, y, z})};
}
inline Scalar fma(const Scalar& x, double y, const Scalar& z) { return fma(x, x.like(y), z); }
inline Scalar fma(const Scalar& x, const Scalar& y, double z) { return fma(x, y, x.like(z)); }
inline Scalar fma(const Scalar& x, double y, double z) { return fma(x, x.like(y), x.like(z)); }

inline Scalar where(const Scalar& condition, const Scalar& x, const Scalar& y) {
  return {x.builder(), x.builder().apply(ScalarOp::kSelect, {condition, x, y})};
}
inline Scalar where(const Scalar& condition, double x, const Scalar& y) { return where(condition, y.like(x), y); }
inline Scalar where(const Scalar& condition, const Scalar& x, double y) { return where(condition, x, x.like(y)); }

// The integer dtypes as wide as a dtype.
DType signed_of(DType dtype);
DType unsigned_of(DType dtype);

// |x| with the sign bit of y; floats.
Scalar copy_sign(const Scalar& x, const Scalar& y);

}  // namespace ingot::loops
