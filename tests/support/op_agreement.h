// How far results may be from the reference: OpDef::ulp as a judge.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "aot/graph/narrow_float.h"
#include "aot/ops/support/region.h"
#include "aot/ops/support/window.h"
#include "tests/support/op_case.h"

namespace ingot {

struct FloatFormat {
  int mantissa_bits, least_exponent;
};

inline FloatFormat format_of(DType dtype) {
  if (is_narrow_float(dtype)) return {narrow_float(dtype).mantissa_bits, 1 - narrow_float(dtype).bias};
  if (dtype == DType::kF16) return {10, -14};
  if (dtype == DType::kBF16) return {7, -126};
  return dtype == DType::kF32 ? FloatFormat{23, -126} : FloatFormat{52, -1022};
}

// The distance of neighbouring numbers of `dtype` at `magnitude`.
inline double unit_at(DType dtype, double magnitude) {
  const FloatFormat format = format_of(dtype);
  const int exponent = magnitude == 0 ? format.least_exponent : std::max(std::ilogb(magnitude), format.least_exponent);
  return std::ldexp(1, exponent - format.mantissa_bits);
}

// The distance between floats in units in the last place of `dtype` at `magnitude`; 0 for two NaN.
inline double ulps(DType dtype, double actual, double expected, double magnitude) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual) ? 0 : INFINITY;
  const double rounded = round_to(dtype, expected);
  if (std::isinf(rounded) || std::isinf(actual)) return actual == rounded ? 0 : INFINITY;
  return std::abs(actual - expected) / unit_at(dtype, magnitude);
}

// How many partial sums or products of its region's type an op makes for each result, at most.
inline int64_t partial_results(const Op& op) {
  const bool is_window = op.is(kReduceWindow);
  if (!is_window && !op.is(kReduce)) return 0;
  const OpDef* combines = ops::binary_region_op(op.region());
  if (combines != &kAdd && combines != &kMultiply) return 0;
  if (is_window) return element_count(ops::sizes(ops::read_window(op.attrs())));
  return op.operand(0)->type.elements() / std::max<int64_t>(op.result()->type.elements(), 1);
}

// How far a result may be from the reference. f16 and bf16 come from f32 by one rounding, or by one for each partial
// result; the f64 reference is itself good to a unit.
inline double allowed_ulps(const Op& op, DType dtype) {
  const UlpBound& bound = op.def->ulp;
  if (dtype == DType::kF64) return bound.f64 == 0 ? 0 : bound.f64 + 1;
  if (dtype == DType::kF32) return bound.f32 == 0 ? 0 : bound.f32;
  return bound.half + bound.f32 * 0x1p-13 + 0.001 + 0.5 * static_cast<double>(partial_results(op));
}

// Allowed of what is made of complex numbers, at least: those of f32 parts are computed in f64; powers lose most.
inline double complex_ulps(DType part) { return part == DType::kF64 ? 32 : 4; }

// Of a complex result: units of the larger part of a number, in which both its parts may be off.
inline std::string complex_disagreement(const OpCase& op_case, size_t r, const RefTensor& actual) {
  const RefTensor& exact = op_case.exact[r];
  const DType part = part_of(exact.type.dtype);
  const double allowed = std::max(complex_ulps(part), allowed_ulps(op_case.op(), part));
  for (size_t at = 0; at < exact.f.size(); ++at) {
    const size_t first = at - at % 2;
    double magnitude = std::max(std::abs(exact.f[first]), std::abs(exact.f[first + 1]));
    for (const size_t k : {first, first + 1}) magnitude = std::max(magnitude, std::abs(op_case.magnitudes[r].f[k]));
    const double error = ulps(part, actual.f[at], exact.f[at], magnitude);
    if (error <= allowed) continue;
    char text[200];
    std::snprintf(text, sizeof text, "part %zu of element %zu is %a, not %a: %.3f ulp, allowed %.3f", at % 2, at / 2,
                  actual.f[at], exact.f[at], error, allowed);
    return text;
  }
  return "";
}

// What is wrong with a case's result number r; "" if nothing is.
inline std::string disagreement(const OpCase& op_case, size_t r, const RefTensor& actual) {
  if (actual.is_complex()) return complex_disagreement(op_case, r, actual);
  const RefTensor& expected = op_case.expected[r];
  const DType dtype = expected.type.dtype;
  for (int64_t k = 0; k < expected.elements(); ++k) {
    if (!expected.is_float()) {
      if (actual.i[k] == expected.i[k]) continue;
      return "element " + std::to_string(k) + " is " + std::to_string(actual.i[k]) + ", not " +
             std::to_string(expected.i[k]);
    }
    const double least = has_complex(op_case.main()) ? complex_ulps(dtype) : 0;
    const double allowed = std::max(least, allowed_ulps(op_case.op(), dtype));
    const double reference = allowed == 0 ? expected.f[k] : op_case.exact[r].f[k];
    const double magnitude = std::max(std::abs(reference), std::abs(op_case.magnitudes[r].f[k]));
    const double error = ulps(dtype, actual.f[k], reference, magnitude);
    const bool has_wrong_sign =
        actual.f[k] == 0 && reference == 0 && std::signbit(actual.f[k]) != std::signbit(reference);
    if (error <= allowed && !has_wrong_sign) continue;
    char text[200];
    std::snprintf(text, sizeof text, "element %lld is %a, not %a: %.3f ulp, allowed %.3f", static_cast<long long>(k),
                  actual.f[k], reference, error, allowed);
    std::string message = text;
    for (const RefTensor& input : op_case.inputs) {
      if (input.type.shape != expected.type.shape || input.is_complex()) continue;
      message += "; operand " + (input.is_float() ? std::to_string(input.f[k]) : std::to_string(input.i[k]));
    }
    return message;
  }
  return "";
}

// The results are within what their op allows.
inline void expect_agreement(const OpCase& op_case, const std::vector<RefTensor>& results) {
  ASSERT_EQ(results.size(), op_case.expected.size());
  for (size_t r = 0; r < results.size(); ++r) EXPECT_EQ(disagreement(op_case, r, results[r]), "") << "result " << r;
}

}  // namespace ingot
