#include "aot/loops/math/reduce_angle.h"

#include <bit>

#include "aot/loops/math/functions.h"

namespace ingot::loops::math {
namespace {

constexpr double kHalfPi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};  // summed

// 23 zero bits, then the bits of 2/pi = 0.1010001..., highest first.
constexpr uint64_t kTwoOverPi[] = {
    0x00000145, 0xF306DC9C, 0x882A53F8, 0x4EAFA3EA, 0x69BB81B6, 0xC52B3278, 0x872083FC, 0xA2C757BD,
    0x778AC36E, 0x48DC7484, 0x9BA5C00C, 0x925DD413, 0xA32439FC, 0x3BD63962, 0x534E7DD1, 0x046BEA5D,
    0x768909D3, 0x38E04D68, 0xBEFC8273, 0x23AC7306, 0xA673E939, 0x08BF177B, 0xF250763F, 0xF12FFFBC,
    0x0B301FDE, 0x5E2316B4, 0x14DA3EDA, 0x6CFD9E4F, 0x96136E9E, 0x8C7ECD3C, 0xBFD45AEA, 0x4F758FD7,
    0xCBE2F67A, 0x0E73EF14, 0xA525D4D7, 0xF6BF623F, 0x1ABA10AC, 0x06608DF8, 0xF6D757E1,
};

// The words of kTwoOverPi from word `first` on: a barrel shifter, for there is no table look-up.
std::vector<Scalar> words_from(const Scalar& first, int greatest_first, int count) {
  const auto word = [&](size_t i) { return i < std::size(kTwoOverPi) ? first.bits(kTwoOverPi[i]) : first.bits(0); };
  std::vector<Scalar> words;
  for (int i = 0; i < greatest_first + count; ++i) words.push_back(word(i));
  for (int step = static_cast<int>(std::bit_floor(static_cast<unsigned>(greatest_first))); step > 0; step /= 2) {
    const Scalar is_set = !equal(first & step, 0);
    std::vector<Scalar> shifted;
    for (int i = 0; i < count + step - 1; ++i) {
      const size_t from = i + step;
      shifted.push_back(where(is_set, from < words.size() ? words[from] : word(from), words[i]));
    }
    words = std::move(shifted);
  }
  return words;
}

// A value below 2^32 in ui64, as f64.
Scalar to_f64(const Scalar& word) {
  return (word | word.bits(std::bit_cast<uint64_t>(0x1p52))).bitcast(DType::kF64) - 0x1p52;
}

}  // namespace

// Cody and Waite (1980): x - n pi/2 for pi/2 in three parts; the first product leaves no rounding error.
ReducedAngle reduce_moderate(const Scalar& x) {
  const double shift = layout_of(DType::kF64).shift;
  const Scalar shifted = fma(x, M_2_PI, shift);
  const Scalar n = shifted - shift;
  const Scalar r = fma(-n, kHalfPi[0], x);
  const DoubleWord second = product(-n, x.like(kHalfPi[1]));
  const DoubleWord angle = sum(r, second.high);
  return {fast_sum(angle.high, fma(-n, kHalfPi[2], angle.low + second.low)), shifted.bitcast(DType::kUI64)};
}

// Payne and Hanek (1983): x = M 2^k with an integer M of `mantissa_bits` + 1 bits. Of 2/pi, bits that only add
// multiples of four quarter turns to x 2/pi are left out; the product of M and the next `limb_count` words, in 32-bit
// limbs, is x 2/pi modulo 4 with enough bits for the closest multiple of pi/2 that there is.
ReducedAngle reduce_large(const Scalar& x, DType source) {
  const bool is_f64 = source == DType::kF64;
  const int mantissa_bits = layout_of(source).mantissa_bits, limb_count = is_f64 ? 6 : 3;
  const Scalar bits = x.bitcast(DType::kUI64);
  const Scalar exponent = (bits >> 52) - 1023;
  const Scalar mantissa = ((bits & bits.bits(0xFFFFFFFFFFFFF)) | bits.bits(uint64_t{1} << 52)) >> (52 - mantissa_bits);
  const Scalar mask = bits.bits(0xFFFFFFFF);
  const std::vector<Scalar> m = {mantissa & mask, mantissa >> 32};
  const int m_count = is_f64 ? 2 : 1;

  const Scalar start = exponent - (mantissa_bits - 21);  // in bits of kTwoOverPi
  const Scalar offset = start & 31;
  const std::vector<Scalar> words = words_from(start >> 5, is_f64 ? 31 : 3, limb_count + 1);
  std::vector<Scalar> window;  // lowest limb first
  for (int i = limb_count - 1; i >= 0; --i) {
    window.push_back((((words[i] << 32) | words[i + 1]) >> (32 - offset)) & mask);
  }

  std::vector<Scalar> limbs;
  Scalar sum = bits.bits(0);
  for (int column = 0; column < limb_count; ++column) {
    for (int i = 0; i < m_count; ++i) {
      if (column >= i) sum = sum + ((m[i] * window[column - i]) & mask);
      if (column >= i + 1) sum = sum + ((m[i] * window[column - 1 - i]) >> 32);
    }
    limbs.push_back(sum & mask);
    sum = sum >> 32;
  }

  // The two highest bits, rounded, are the quadrant; what is left is signed, in units of 2^-62 quarter turns.
  const Scalar top = (limbs[limb_count - 1] << 32) | limbs[limb_count - 2];
  const Scalar quadrant = (top + top.bits(uint64_t{1} << 61)) >> 62;
  const Scalar rest = top - (quadrant << 62);
  const Scalar high = (to_f64((rest ^ rest.bits(uint64_t{1} << 63)) >> 32) - 0x1p31) * 0x1p-30;
  const Scalar low = to_f64(rest & mask) * 0x1p-62;
  Scalar lowest = to_f64(limbs[limb_count - 3]) * 0x1p-94;
  if (is_f64) lowest = fma(to_f64(limbs[limb_count - 4]), 0x1p-126, lowest);
  const DoubleWord high_and_low = fast_sum(high, low);
  const DoubleWord turns = fast_sum(high_and_low.high, high_and_low.low + lowest);
  const DoubleWord angle = product(turns.high, x.like(kHalfPi[0]));
  return {fast_sum(angle.high, fma(turns.high, kHalfPi[1], fma(turns.low, kHalfPi[0], angle.low))), quadrant};
}

DoubleWord half_turns(const Scalar& x) {
  const DoubleWord angle = product(x, x.like(M_PI));
  return fast_sum(angle.high, fma(x, 2 * kHalfPi[1], angle.low));
}

}  // namespace ingot::loops::math
