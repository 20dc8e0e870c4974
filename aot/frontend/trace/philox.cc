#include "aot/frontend/trace/philox.h"

#include <numbers>

#include "aot/frontend/trace/functions.h"
#include "aot/frontend/trace/trace.h"

namespace ingot {
namespace {

Tensor word(uint32_t value) { return wrap(ops::constant(builder(), splat_int({DType::kUI32, {}}, value))); }

Tensor shifted(const Tensor& x, int64_t bits) {
  Value* value = value_of(x);
  return wrap(
      ops::binary(builder(), "shift_right_logical", value, ops::constant(builder(), splat_int(value->type, bits))));
}

// The high and low words of a * b.
struct Wide {
  Tensor high, low;
};
Wide multiply(const Tensor& a, uint32_t b) {
  const Tensor product = to(a, DType::kUI64) * static_cast<int64_t>(b);
  return {to(shifted(product, 32), DType::kUI32), to(product, DType::kUI32)};
}

}  // namespace

std::array<Tensor, 4> philox4x32(std::array<Tensor, 4> counter, std::array<Tensor, 2> key) {
  for (int round = 0; round < 10; ++round) {
    if (round > 0) key = {key[0] + word(0x9E3779B9), key[1] + word(0xBB67AE85)};
    const Wide p0 = multiply(counter[0], 0xD2511F53), p1 = multiply(counter[2], 0xCD9E8D57);
    counter = {p1.high ^ counter[1] ^ key[0], p1.low, p0.high ^ counter[3] ^ key[1], p0.low};
  }
  return counter;
}

Tensor random_bits(const RandomKey& key, const Shape& shape) {
  const int64_t count = element_count(shape);
  const int64_t blocks = std::max<int64_t>((count + 3) / 4, 1);
  const Tensor index = wrap(ops::iota(builder(), {DType::kUI32, {blocks}}, 0));
  const Tensor seed = to(key.seed, DType::kUI64);
  const Tensor step =
      key.step.is_number() ? word(static_cast<uint32_t>(key.step.number())) : to(key.step, DType::kUI32);
  const auto low = static_cast<uint32_t>(key.stream), high = static_cast<uint32_t>(key.stream >> 32);
  const auto words =
      philox4x32({index, step, word(low), word(high)}, {to(seed, DType::kUI32), to(shifted(seed, 32), DType::kUI32)});
  Tensor bits = cat({words.begin(), words.end()});
  if (4 * blocks != count) bits = slice(bits, 0, 0, count);
  return reshape(bits, shape);
}

Tensor random_uniform(const RandomKey& key, const TensorType& type) {
  const Tensor bits = random_bits(key, type.shape);
  if (type.dtype == DType::kF64) return to(bits, DType::kF64) * 0x1p-32;
  return to(to(shifted(bits, 8), DType::kF32) * 0x1p-24, type.dtype);
}

Tensor random_normal(const RandomKey& key, const TensorType& type) {
  const DType dtype = type.dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  Shape pairs = type.shape;
  pairs.insert(pairs.begin(), 2);
  const Tensor u = random_uniform(key, {dtype, pairs});
  const Tensor radius = sqrt(-2 * log1p(-select(u, 0, 0)));
  return to(radius * cos(2 * std::numbers::pi * select(u, 0, 1)), type.dtype);
}

}  // namespace ingot
