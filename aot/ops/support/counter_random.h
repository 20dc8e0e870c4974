// Random bits that are a function of a key and a counter alone, in words of 32 bits: Philox4x32-10 and Threefry2x32-20.
// Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
//
// `Word` is uint32_t, or a ui32 tensor in the making; what the rounds need of it stands first.
#pragma once

#include <array>

#include "aot/ops/support/algebra.h"

namespace ingot {

template <typename Word>
struct WideProduct {
  Word high, low;
};

inline uint32_t plus(uint32_t x, uint32_t y) { return x + y; }
inline uint32_t rotated_left(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }
inline WideProduct<uint32_t> wide_product(uint32_t x, uint32_t y) {
  const uint64_t product = uint64_t{x} * y;
  return {static_cast<uint32_t>(product >> 32), static_cast<uint32_t>(product)};
}

inline Term operator^(Term x, Term y) { return x.binary(kXor, y); }
inline Term operator^(Term x, uint32_t y) { return x ^ x.like(y); }
inline Term shifted_right(Term x, int bits) { return x.binary(kShiftRightLogical, x.like(bits)); }
inline Term plus(Term x, uint32_t y) { return x + x.like(y); }
inline Term rotated_left(Term x, int bits) {
  return x.binary(kShiftLeft, x.like(bits)).binary(kOr, shifted_right(x, 32 - bits));
}
inline WideProduct<Term> wide_product(Term x, uint32_t y) {
  const Term product = converted(x, DType::kUI64) * y;
  return {converted(shifted_right(product, 32), DType::kUI32), converted(product, DType::kUI32)};
}

template <typename Word>
std::array<Word, 4> philox4x32(std::array<Word, 4> counter, std::array<Word, 2> key) {
  for (int round = 0; round < 10; ++round) {
    if (round > 0) key = {plus(key[0], 0x9E3779B9u), plus(key[1], 0xBB67AE85u)};
    const WideProduct<Word> p0 = wide_product(counter[0], 0xD2511F53u), p1 = wide_product(counter[2], 0xCD9E8D57u);
    counter = {p1.high ^ counter[1] ^ key[0], p1.low, p0.high ^ counter[3] ^ key[1], p0.low};
  }
  return counter;
}

template <typename Word>
std::array<Word, 2> threefry2x32(std::array<Word, 2> counter, std::array<Word, 2> key) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const Word keys[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDAu};
  Word x = counter[0] + keys[0], y = counter[1] + keys[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (const int bits : kRotations[group % 2]) {
      x = x + y;
      y = rotated_left(y, bits) ^ x;
    }
    x = x + keys[(group + 1) % 3];
    y = plus(y + keys[(group + 2) % 3], group + 1);
  }
  return {x, y};
}

}  // namespace ingot
