#include "aot/graph/narrow_float.h"

#include <algorithm>
#include <cmath>

#include "aot/base/error.h"

namespace ingot {
namespace {

constexpr NarrowFloat kNarrowFloats[] = {
    {DType::kF4E2M1FN, 2, 1, 1, FloatExtremes::kFinite},    {DType::kF6E2M3FN, 2, 3, 1, FloatExtremes::kFinite},
    {DType::kF6E3M2FN, 3, 2, 3, FloatExtremes::kFinite},    {DType::kF8E3M4, 3, 4, 3, FloatExtremes::kIeee},
    {DType::kF8E4M3, 4, 3, 7, FloatExtremes::kIeee},        {DType::kF8E4M3B11FNUZ, 4, 3, 11, FloatExtremes::kNoMinus},
    {DType::kF8E4M3FN, 4, 3, 7, FloatExtremes::kAllOnes},   {DType::kF8E4M3FNUZ, 4, 3, 8, FloatExtremes::kNoMinus},
    {DType::kF8E5M2, 5, 2, 15, FloatExtremes::kIeee},       {DType::kF8E5M2FNUZ, 5, 2, 16, FloatExtremes::kNoMinus},
    {DType::kF8E8M0FNU, 8, 0, 127, FloatExtremes::kPowers},
};

}  // namespace

const NarrowFloat& narrow_float(DType dtype) {
  if (!is_narrow_float(dtype)) throw_bug("narrow_float: " + to_string(dtype) + " is none");
  return kNarrowFloats[static_cast<int>(dtype) - static_cast<int>(DType::kF4E2M1FN)];
}

uint32_t NarrowFloat::greatest() const {
  switch (extremes) {
    case FloatExtremes::kIeee:
      return magnitude_mask() - (uint32_t{1} << mantissa_bits);
    case FloatExtremes::kAllOnes:
    case FloatExtremes::kPowers:
      return magnitude_mask() - 1;
    default:
      return magnitude_mask();
  }
}

uint32_t NarrowFloat::overflow() const {
  switch (extremes) {
    case FloatExtremes::kIeee:
      return greatest() + 1;
    case FloatExtremes::kFinite:
      return greatest();
    default:
      return nan();
  }
}

uint32_t NarrowFloat::nan() const {
  switch (extremes) {
    case FloatExtremes::kIeee:  // quiet: the mantissa's first bit
      return greatest() + 1 + (uint32_t{1} << (mantissa_bits - 1));
    case FloatExtremes::kAllOnes:
    case FloatExtremes::kPowers:
      return magnitude_mask();
    default:
      return sign_bit();
  }
}

double narrow_float_value(const NarrowFloat& format, uint32_t bits) {
  const uint32_t magnitude = bits & format.magnitude_mask();
  const bool is_negative = bits & format.sign_bit();
  const double sign = is_negative ? -1 : 1;
  if (format.extremes == FloatExtremes::kNoMinus ? bits == format.nan() : magnitude > format.greatest()) {
    const bool is_infinity = format.extremes == FloatExtremes::kIeee && magnitude == format.overflow();
    return is_infinity ? sign * INFINITY : std::copysign(NAN, sign);
  }
  const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const int one = 1 << format.mantissa_bits, mantissa = static_cast<int>(magnitude) & (one - 1);
  const bool is_denormal = exponent == 0 && format.extremes != FloatExtremes::kPowers;
  return sign * std::ldexp(is_denormal ? mantissa : one + mantissa,
                           std::max(exponent, is_denormal ? 1 : 0) - format.bias - format.mantissa_bits);
}

uint32_t narrow_float_bits(const NarrowFloat& format, double value) {
  if (std::isnan(value) || (!format.has_sign() && value < 0)) return format.nan();
  const uint32_t sign = std::signbit(value) ? format.sign_bit() : 0;
  uint32_t bits = 0;
  if (std::isinf(value)) {
    bits = format.overflow();
  } else if (value != 0) {
    // Bits count the values from the least one on: those below 2^exponent, and the steps from there.
    const bool is_power = format.extremes == FloatExtremes::kPowers;
    const int least = (is_power ? 0 : 1) - format.bias;
    const int exponent = std::clamp(std::ilogb(value), least, 128);
    const int below = (exponent - least) << format.mantissa_bits;
    const double steps = std::ldexp(std::abs(value), format.mantissa_bits - exponent);
    // A power of two is one step from 1 to 2, and even or odd as its exponent is.
    const bool is_up = is_power && steps - (below & 1 ? 0 : 0x1p-52) >= 1.5;
    const double rounded = is_power ? is_up : std::nearbyint(std::min(steps, 1024.0));
    bits = static_cast<uint32_t>(below) + static_cast<uint32_t>(rounded);
    if (bits > format.greatest()) bits = format.overflow();
  }
  const bool has_no_minus = format.extremes == FloatExtremes::kNoMinus && (bits == 0 || bits == format.nan());
  return has_no_minus ? bits : bits | sign;
}

}  // namespace ingot
