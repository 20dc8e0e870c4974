// f8, f6 and f4 lie in memory as the bits that they are; integer arithmetic makes f32 of them, and rounds to them.
#include "aot/graph/narrow_float.h"
#include "aot/ops/support/algebra.h"
#include "aot/passes/pass.h"
#include "aot/passes/store_elements.h"

namespace ingot {
namespace {

Term bitcast(Term x, DType dtype) {
  return {x.builder(), x.builder().make(kBitcastConvert, {x}, {}, {{dtype, x.shape()}})};
}

Term operator&(Term x, double mask) { return x.binary(kAnd, x.like(mask)); }
Term operator|(Term x, Term y) { return x.binary(kOr, y); }
Term shifted_left(Term x, double bits) { return x.binary(kShiftLeft, x.like(bits)); }
Term shifted_right(Term x, double bits) { return x.binary(kShiftRightLogical, x.like(bits)); }

// The float that is rounded, with its bits as an integer type.
struct Wide {
  DType dtype, bits;
  int mantissa_bits, bias;
};
constexpr Wide kWide32 = {DType::kF32, DType::kUI32, 23, 127}, kWide64 = {DType::kF64, DType::kUI64, 52, 1023};

bool has_signed_nan(const NarrowFloat& format) {
  return format.extremes == FloatExtremes::kIeee || format.extremes == FloatExtremes::kAllOnes;
}

// Bits above the sign's become the exponent of f32; where the exponent is 0 the mantissa counts the least value.
Term value_of_bits(Term stored, const NarrowFloat& format) {
  const bool is_power = format.extremes == FloatExtremes::kPowers;
  const int shift = kWide32.mantissa_bits - format.mantissa_bits;
  const Term bits = converted(stored, kWide32.bits);
  const Term magnitude = bits & format.magnitude_mask();
  const Term moved = shifted_left(magnitude, shift);
  const Term normal = moved + static_cast<double>(uint64_t(kWide32.bias - format.bias) << kWide32.mantissa_bits);
  const double least = std::ldexp(1, 1 - format.bias - format.mantissa_bits);
  const Term denormal =
      is_power ? magnitude.like(1 << 22) : bitcast(converted(magnitude, kWide32.dtype) * least, kWide32.bits);
  const Term least_normal = magnitude.like(is_power ? 1 : 1 << format.mantissa_bits);
  Term value = where(magnitude < least_normal, denormal, normal);
  if (format.extremes == FloatExtremes::kIeee) {
    const Term is_finite = magnitude <= magnitude.like(format.greatest());
    value = where(is_finite, value, moved | moved.like(0x7F800000));
  } else if (format.extremes != FloatExtremes::kFinite) {
    const Term nan = bits.like(format.nan());
    value = where(equal(has_signed_nan(format) ? magnitude : bits, nan), 0x7FC00000, value);
  }
  if (format.has_sign()) {
    const int to_sign = 31 - format.exponent_bits - format.mantissa_bits;
    value = value | shifted_left(bits & format.sign_bit(), to_sign);
  }
  return bitcast(value, kWide32.dtype);
}

// To nearest even: just under half of the last kept place (half of it where that is odd) is added to the bits, with the
// carry running into the exponent. What is below the least normal value is counted in least values.
Term bits_of_value(Term x, const NarrowFloat& format, const Wide& wide) {
  const bool is_power = format.extremes == FloatExtremes::kPowers;
  const int dropped = wide.mantissa_bits - format.mantissa_bits;
  const Term size = abs(x);
  const Term magnitude = bitcast(size, wide.bits);
  const Term half = (shifted_right(magnitude, dropped) & 1) + (std::ldexp(1, dropped - 1) - 1);
  const Term normal =
      shifted_right(magnitude + half, dropped) - static_cast<double>((wide.bias - format.bias) << format.mantissa_bits);
  const Term steps =
      is_power ? converted(size > size.like(std::ldexp(1.5, -format.bias)), wide.bits)
               : converted((size * std::ldexp(1, format.bias - 1 + format.mantissa_bits)).unary(kRoundNearestEven),
                           wide.bits);
  const Term bits = where(size < size.like(std::ldexp(1, 1 - format.bias)), steps, normal);

  const Term is_finite = bits <= bits.like(format.greatest());
  const Term overflow = bits.like(format.overflow()), nan = bits.like(format.nan());
  if (!format.has_sign()) {
    const Term is_number = both(is_finite, x >= x.like(0));
    return where(is_number, bits, nan);
  }
  const Term sign_place = shifted_right(bitcast(x, wide.bits), info(wide.bits).bits - 1);
  const Term sign = shifted_left(sign_place, format.exponent_bits + format.mantissa_bits);
  if (format.extremes == FloatExtremes::kNoMinus) {
    const Term is_zero = equal(bits, bits.like(0));
    const Term number = where(is_zero, bits, bits | sign);
    return where(is_finite, number, nan);
  }
  const Term number = where(is_finite, bits, overflow) | sign;
  const Term is_number = equal(x, x);
  return where(is_number, number, nan);
}

// Floats of 6 bits lie in 8: their pieces are those of the 8 without the last.
Value* pieces_of_six(GraphBuilder& b, Value* bits, const TensorType& to) {
  Shape shape = to.shape;
  shape.back() = 8 / info(to.dtype).bits;
  Value* all = b.make(kBitcastConvert, {bits}, {}, {{to.dtype, shape}});
  return ops::slice(b, all, Shape(shape.size(), 0), to.shape, Shape(shape.size(), 1));
}

Value* six_of_pieces(GraphBuilder& b, Value* pieces, const TensorType& stored) {
  const Shape& shape = pieces->type.shape;
  const Shape none(shape.size(), 0);
  Shape high = none;
  high.back() = 8 / info(pieces->type.dtype).bits - shape.back();
  Value* zero = ops::constant(b, {pieces->type.dtype, {}}, 0);
  return b.make(kBitcastConvert, {ops::pad(b, pieces, zero, none, high, none)}, {}, {stored});
}

class NarrowFloatStorage : public ElementStorage {
 public:
  bool holds(const TensorType& type) const override { return is_narrow_float(type.dtype); }
  TensorType stored(const TensorType& type) const override { return {storage_of(type.dtype), type.shape}; }
  TensorType computed(const TensorType& type) const override { return {DType::kF32, type.shape}; }
  bool keeps_meaning(const Op&, const TensorType& from, const TensorType& to) const override {
    return from.dtype == to.dtype;
  }

  Value* decode(GraphBuilder& b, Value* stored, const TensorType& type) const override {
    return value_of_bits(Term(b, stored), narrow_float(type.dtype));
  }

  // Through f32 only what it holds exactly, to round once.
  Value* encode(GraphBuilder& b, Value* computed, const TensorType& type) const override {
    const DType from = computed->type.dtype;
    const bool fits = is_float(from) ? from != DType::kF64 : info(from).bits <= 16;
    const Wide& wide = fits ? kWide32 : kWide64;
    const Term x = converted(Term(b, computed), wide.dtype);
    return converted(bits_of_value(x, narrow_float(type.dtype), wide), stored(type).dtype);
  }

  bool is_conversion(const Op& op) const override { return op.is(kConvert); }
  Values rewrite(GraphBuilder& b, const Op& op, const Types& types) const override {
    if (!op.is(kBitcastConvert)) return {};
    const TensorType &from = types.operands[0], &to = types.results[0];
    const int from_bits = info(from.dtype).bits, to_bits = info(to.dtype).bits;
    if (from_bits == 6 && to_bits < 6) return {pieces_of_six(b, op.operand(0), to)};
    if (to_bits == 6 && from_bits < 6) return {six_of_pieces(b, op.operand(0), stored(to))};
    return {};
  }
};

}  // namespace

bool widen_floats(Module& module, PassContext&) { return store_elements(module, NarrowFloatStorage()); }

}  // namespace ingot
