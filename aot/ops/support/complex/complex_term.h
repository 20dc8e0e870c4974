// A complex value as its two parts, with arithmetic: what split columns of functions are written with.
#pragma once

#include <complex>
#include <type_traits>

#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/elementwise.h"

namespace ingot {

using Complex = std::complex<double>;

struct ComplexTerm {
  Term re, im;
};

inline ComplexTerm operator+(ComplexTerm x, ComplexTerm y) { return {x.re + y.re, x.im + y.im}; }
inline ComplexTerm operator-(ComplexTerm x, ComplexTerm y) { return {x.re - y.re, x.im - y.im}; }
inline ComplexTerm operator-(ComplexTerm x) { return {-x.re, -x.im}; }
inline Term fma(Term x, Term y, Term z) { return {x.builder(), x.builder().make(kFma, {x, y, z})}; }
inline ComplexTerm operator*(ComplexTerm x, ComplexTerm y) {
  return {fma(x.re, y.re, -(x.im * y.im)), fma(x.im, y.re, x.re * y.im)};
}
inline ComplexTerm operator*(ComplexTerm x, Term y) { return {x.re * y, x.im * y}; }
inline ComplexTerm operator/(ComplexTerm x, Term y) { return {x.re / y, x.im / y}; }
inline ComplexTerm where(Term condition, ComplexTerm x, ComplexTerm y) {
  return {where(condition, x.re, y.re), where(condition, x.im, y.im)};
}

// What follows is of f64 parts: of complex<f32>, too, the functions are computed in f64 and rounded once. No result
// overflows or underflows on the way, and none cancels but where its parts are ill-conditioned.

ComplexTerm operator/(ComplexTerm x, ComplexTerm y);
ComplexTerm exp(ComplexTerm z);
ComplexTerm log(ComplexTerm z);
ComplexTerm sqrt(ComplexTerm z);

// sinh(x) cos(y) and cosh(x) sin(y), the parts of sinh(x + iy); cosh(x) cos(y) and sinh(x) sin(y), those of its cosine.
ComplexTerm sinh(ComplexTerm z);
ComplexTerm cosh(ComplexTerm z);
ComplexTerm tanh(ComplexTerm z);

inline ComplexTerm times_i(ComplexTerm z) { return {-z.im, z.re}; }
inline ComplexTerm divided_by_i(ComplexTerm z) { return {z.im, -z.re}; }

Term hypot(Term x, Term y);      // |x + iy|
Term log_hypot(Term x, Term y);  // log|x + iy|
Term atan2(Term y, Term x);
Term sqrt(Term x);
Term log_plus_one(Term x);
Term copy_sign(Term magnitude, Term sign);  // magnitude is not negative
Term is_infinite(Term x);

// A power of two that brings the larger of |x| and |y| to [1, 2): without rounding. At most 2^1023, for zero, too.
Term unit_scale(Term x, Term y);

// A sum in two words, whose exact value it is.
struct TwoTerms {
  Term high, low;
};
TwoTerms two_sum(Term x, Term y);
TwoTerms two_square(Term x);

namespace ops {

ComplexTerm complex_operand(SplitArgs& args, int i, DType part);
std::vector<Parts> complex_result(SplitArgs& args, ComplexTerm z);
std::vector<Parts> complex_result(SplitArgs& args, Term x);

// f(z) or f(z, w) gives the result, a complex or a real one; in the dtype of the parts.
template <auto f>
std::vector<Parts> split_by(SplitArgs& args, DType part) {
  const ComplexTerm z = complex_operand(args, 0, part);
  if constexpr (std::is_invocable_v<decltype(f), ComplexTerm>) {
    return complex_result(args, f(z));
  } else {
    return complex_result(args, f(z, complex_operand(args, 1, part)));
  }
}

template <auto f>
std::vector<Parts> split_arithmetic(SplitArgs& args) {
  return split_by<f>(args, part_of(args.op.operand(0)->type.dtype));
}

// The same, in f64.
template <auto f>
std::vector<Parts> split_function(SplitArgs& args) {
  return split_by<f>(args, DType::kF64);
}

}  // namespace ops

// --- evaluate: the columns of elementwise ops that take complex numbers as well, z(x) or z(x, y) ---

template <FloatUnary f, IntUnary i, Complex (*z)(Complex)>
std::vector<RefTensor> evaluate_unary(const EvaluateArgs& args) {
  if (!args.inputs[0].is_complex()) return map_unary(args, f, i);
  RefTensor y(args.result_type());
  for (int64_t k = 0; k < y.elements(); ++k) y.set_complex(k, z(args.inputs[0].complex_at(k)));
  return {std::move(y)};
}

template <FloatBinary f, IntBinary i, Complex (*z)(Complex, Complex)>
std::vector<RefTensor> evaluate_binary(const EvaluateArgs& args) {
  if (!args.inputs[0].is_complex()) return map_binary(args, f, i);
  RefTensor y(args.result_type());
  for (int64_t k = 0; k < y.elements(); ++k) {
    y.set_complex(k, z(args.inputs[0].complex_at(k), args.inputs[1].complex_at(k)));
  }
  return {std::move(y)};
}

}  // namespace ingot
