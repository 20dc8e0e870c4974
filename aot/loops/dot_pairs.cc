#include "aot/loops/dot_pairs.h"

#include <bit>
#include <cmath>

namespace ingot::loops {
namespace {

constexpr Bits kUpper = 0xFFFF0000;

float flushed(Bits bits) {
  const auto value = std::bit_cast<float>(static_cast<uint32_t>(bits));
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
}

// a b + c, rounded once. What is rounded to 2^-126 from below, as if there were smaller exponents, is made no zero.
float flushing_fma(Bits a, Bits b, float c) {
  const float x = flushed(a), y = flushed(b), sum = std::fma(x, y, c);
  const double exact = std::fma(static_cast<double>(x), static_cast<double>(y), static_cast<double>(c));
  return std::fabs(exact) < kLeastPairSum ? std::copysign(0.0F, sum) : sum;
}

// value + lost, where `lost` is what rounding took from `value`.
float to_odd(double value, double lost) {
  auto bits = std::bit_cast<Bits>(value);
  if (lost < 0 || lost > 0) bits = (bits - (std::signbit(lost) != std::signbit(value) ? 1 : 0)) | 1;
  constexpr Bits kLast = Bits{1} << kBitsBelowF32;
  if ((bits & (kLast - 1)) != 0) bits = (bits & -kLast) | kLast;
  const auto odd = std::bit_cast<double>(bits);
  return std::fabs(odd) < 0x1p-126 ? std::copysign(0.0F, static_cast<float>(odd)) : static_cast<float>(odd);
}

// Two numbers of f32 in f64, where the sum loses what is summed up again from its parts.
float add_to_odd(double a, double b) {
  const double sum = a + b, added = sum - a;
  return to_odd(sum, (a - (sum - added)) + (b - added));
}

// Exact but for its exponent.
float product(Bits a, Bits b) { return to_odd(static_cast<double>(flushed(a)) * static_cast<double>(flushed(b)), 0); }

}  // namespace

Bits dot_pairs(Bits a, Bits b, Bits c) {
  const float upper = flushing_fma(a & kUpper, b & kUpper, flushed(c));
  return std::bit_cast<uint32_t>(flushing_fma((a << 16) & kUpper, (b << 16) & kUpper, upper));
}

Bits dot_pairs_to_odd(Bits a, Bits b, Bits c) {
  const float products = add_to_odd(product((a << 16) & kUpper, (b << 16) & kUpper), product(a & kUpper, b & kUpper));
  return std::bit_cast<uint32_t>(add_to_odd(flushed(c), products));
}

}  // namespace ingot::loops
