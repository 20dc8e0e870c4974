#include "aot/frontend/trace/philox.h"

#include <numbers>

#include "aot/frontend/trace/functions.h"
#include "aot/frontend/trace/trace.h"
#include "aot/ops/support/counter_random.h"

namespace ingot {
namespace {

Tensor word(uint32_t value) { return wrap(ops::constant(builder(), splat_int({DType::kUI32, {}}, value))); }

}  // namespace

// What the rounds need of a word.
static Tensor plus(const Tensor& x, uint32_t y) { return x + word(y); }

static WideProduct<Tensor> wide_product(const Tensor& x, uint32_t y) {
  const Tensor product = to(x, DType::kUI64) * static_cast<int64_t>(y);
  return {to(product >> 32, DType::kUI32), to(product, DType::kUI32)};
}

std::array<Tensor, 4> philox4x32(std::array<Tensor, 4> counter, std::array<Tensor, 2> key) {
  return philox4x32<Tensor>(std::move(counter), std::move(key));
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
      philox4x32({index, step, word(low), word(high)}, {to(seed, DType::kUI32), to(seed >> 32, DType::kUI32)});
  Tensor bits = cat({words.begin(), words.end()});
  if (4 * blocks != count) bits = slice(bits, 0, 0, count);
  return reshape(bits, shape);
}

Tensor random_uniform(const RandomKey& key, const TensorType& type) {
  const Tensor bits = random_bits(key, type.shape);
  if (type.dtype == DType::kF64) return to(bits, DType::kF64) * 0x1p-32;
  return to(to(bits >> 8, DType::kF32) * 0x1p-24, type.dtype);
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
