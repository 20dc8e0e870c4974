#include "aot/ops/support/elementwise.h"

namespace ingot::mulhi_op {
namespace {

// The high 64 bits of a product of unsigned numbers, by halves.
uint64_t high_of_product(uint64_t x, uint64_t y) {
  const uint64_t mask = 0xFFFFFFFF;
  const uint64_t middle = (x >> 32) * (y & mask) + ((x & mask) * (y & mask) >> 32);
  const uint64_t other = (x & mask) * (y >> 32) + (middle & mask);
  return (x >> 32) * (y >> 32) + (middle >> 32) + (other >> 32);
}

// A product of 64-bit numbers as if they were unsigned has y too much in its high half where x is negative.
int64_t value(int64_t x, int64_t y, DType dtype) {
  const int bits = info(dtype).bits;
  const auto a = static_cast<uint64_t>(x), b = static_cast<uint64_t>(y);
  if (bits < 64) return is_signed(dtype) ? x * y >> bits : static_cast<int64_t>(a * b >> bits);
  const uint64_t high = high_of_product(a, b);
  return static_cast<int64_t>(is_signed(dtype) ? high - (x < 0 ? b : 0) - (y < 0 ? a : 0) : high);
}

double no_floats(double, double) { throw_bug("chlo.mulhi takes integers"); }

Scalar high_of_product(const Scalar& x, const Scalar& y) {
  const auto low = [](const Scalar& v) { return v & v.bits(0xFFFFFFFF); };
  const Scalar middle = (x >> 32) * low(y) + (low(x) * low(y) >> 32);
  const Scalar other = low(x) * (y >> 32) + low(middle);
  return (x >> 32) * (y >> 32) + (middle >> 32) + (other >> 32);
}

loops::Expr element(loops::ElementArgs& args) {
  const Scalar x(args.b, args.operand(0)), y(args.b, args.operand(1));
  const DType dtype = x.dtype();
  const bool has_sign = is_signed(dtype);
  const int bits = info(dtype).bits;
  const DType wide = bits < 32 ? (has_sign ? DType::kI32 : DType::kUI32) : (has_sign ? DType::kI64 : DType::kUI64);
  if (bits < 64) return ((x.convert(wide) * y.convert(wide)) >> bits).convert(dtype);
  const Scalar high = high_of_product(x, y);
  return has_sign ? high - where(x < 0, y, 0) - where(y < 0, x, 0) : high;
}

std::vector<Sample> samples() { return binary_samples("chlo.mulhi", kIntegers); }

}  // namespace

extern const OpDef kMulhi = chlo_binary<kIntegers>({
    .name = "chlo.mulhi",
    .doc = "The high half of the product of integers, which has twice their bits.",
    .evaluate = evaluate_binary<no_floats, value>,
    .zero_gradient = true,
    .samples = samples,
    .element = element,
    .is_commutative = true,
});

}  // namespace ingot::mulhi_op
