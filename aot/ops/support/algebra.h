// A value with arithmetic, so that gradients read as algebra: dy * (1 - y * y).
#pragma once

#include "aot/ops/support/build.h"

namespace ingot {

// Numbers become constants of the other side's type. Operands of one operator have one type.
class Term {
 public:
  Term(GraphBuilder& b, Value* value) : b_(&b), value_(value) {}

  operator Value*() const { return value_; }  // NOLINT: a term is its value
  GraphBuilder& builder() const { return *b_; }
  const Shape& shape() const { return value_->type.shape; }
  Term like(double value) const { return {*b_, ops::constant_like(*b_, value_, value)}; }
  Term unary(const OpDef& op) const { return {*b_, ops::unary(*b_, op, value_)}; }
  Term binary(const OpDef& op, Term y) const { return {*b_, ops::binary(*b_, op, value_, y)}; }
  Term compare(std::string_view direction, Term y) const { return {*b_, ops::compare(*b_, direction, value_, y)}; }

 private:
  GraphBuilder* b_;
  Value* value_;
};

inline Term operator+(Term x, Term y) { return x.binary(kAdd, y); }
inline Term operator-(Term x, Term y) { return x.binary(kSubtract, y); }
inline Term operator*(Term x, Term y) { return x.binary(kMultiply, y); }
inline Term operator/(Term x, Term y) { return x.binary(kDivide, y); }
inline Term operator-(Term x) { return x.unary(kNegate); }
inline Term operator+(Term x, double y) { return x + x.like(y); }
inline Term operator-(Term x, double y) { return x - x.like(y); }
inline Term operator*(Term x, double y) { return x * x.like(y); }
inline Term operator/(Term x, double y) { return x / x.like(y); }
inline Term operator+(double x, Term y) { return y.like(x) + y; }
inline Term operator-(double x, Term y) { return y.like(x) - y; }
inline Term operator*(double x, Term y) { return y.like(x) * y; }
inline Term operator/(double x, Term y) { return y.like(x) / y; }

// Truth values.
inline Term operator<(Term x, Term y) { return x.compare("LT", y); }
inline Term operator<=(Term x, Term y) { return x.compare("LE", y); }
inline Term operator>(Term x, Term y) { return x.compare("GT", y); }
inline Term operator>=(Term x, Term y) { return x.compare("GE", y); }
inline Term equal(Term x, Term y) { return x.compare("EQ", y); }
inline Term both(Term x, Term y) { return x.binary(kAnd, y); }

inline Term where(Term condition, Term x, Term y) { return {x.builder(), ops::select(x.builder(), condition, x, y)}; }
inline Term where(Term condition, Term x, double y) { return where(condition, x, x.like(y)); }
inline Term where(Term condition, double x, Term y) { return where(condition, y.like(x), y); }

inline Term converted(Term x, DType dtype) { return {x.builder(), ops::convert(x.builder(), x, dtype)}; }

inline Term exp(Term x) { return x.unary(kExponential); }
inline Term log(Term x) { return x.unary(kLog); }
inline Term sin(Term x) { return x.unary(kSine); }
inline Term cos(Term x) { return x.unary(kCosine); }
inline Term abs(Term x) { return x.unary(kAbs); }
inline Term sign(Term x) { return x.unary(kSign); }
inline Term pow(Term x, Term y) { return x.binary(kPower, y); }
inline Term square(Term x) { return x * x; }

}  // namespace ingot
