// Cast, CastLike, BitCast.
#include "aot/frontend/onnx/cast.h"

#include <fmt/format.h>

#include <cmath>

#include "aot/frontend/onnx/node_args.h"
#include "aot/graph/narrow_float.h"

namespace ingot::onnx {
namespace {

// The exponent of an f32 as it lies in e8m0, which is nothing but such exponents.
Term to_exponents(Term x, bool saturates, std::string_view mode) {
  GraphBuilder& b = x.builder();
  const Shape& shape = x.shape();
  const Term wide = converted(x, DType::kF32);
  const Term bits(b, b.make(kBitcastConvert, {wide}, {}, {{DType::kUI32, shape}}));
  const Term exponent = both(bits.binary(kShiftRightLogical, bits.like(23)), bits.like(255));
  const Term mantissa = both(bits, bits.like((1 << 23) - 1));
  Term rounds_up = mantissa > mantissa.like(0);
  if (mode == "down") rounds_up = mantissa < mantissa.like(0);
  if (mode == "nearest") rounds_up = mantissa >= mantissa.like(1 << 22);
  Term rounded = where(rounds_up, exponent + 1, exponent);
  rounded = where(exponent >= exponent.like(255), exponent, min(rounded, saturates ? 254 : 255));
  const Term bytes = converted(rounded, DType::kUI8);
  return {b, b.make(kBitcastConvert, {bytes}, {}, {{DType::kF8E8M0FNU, shape}})};
}

double largest(DType dtype) { return narrow_float_value(narrow_float(dtype), narrow_float(dtype).greatest()); }

bool is_packed_integer(DType dtype) { return is_integer(dtype) && info(dtype).bits < 8; }

}  // namespace

Term cast_to(Term x, DType dtype, bool saturates, std::string_view round_mode) {
  const DType from = dtype_of(x);
  if (from == dtype) return x;
  if (dtype == DType::kF8E8M0FNU) return to_exponents(x, saturates, round_mode);
  if (is_narrow_float(dtype) && (saturates || dtype == DType::kF4E2M1FN) && is_float(from)) {
    x = max(min(widened(x), largest(dtype)), -largest(dtype));
  }
  // Integers of 4 bits and fewer wrap around, whatever they are made of.
  if (is_packed_integer(dtype) && is_float(from)) x = converted(x, DType::kI32);
  return converted(x, dtype);
}

namespace {

Term cast_bits(Term x, DType dtype) {
  if (dtype_of(x) == dtype) return x;
  return {x.builder(), x.builder().make(kBitcastConvert, {x}, {}, {{dtype, x.shape()}})};
}

Term cast_node(NodeArgs& n, Term x, DType dtype) {
  const std::string mode = n.text("round_mode", "up");
  if (mode != "up" && mode != "down" && mode != "nearest") n.fail(fmt::format("round_mode = '{}'", mode));
  return cast_to(x, dtype, n.flag("saturate", true), mode);
}

}  // namespace

Items lower_cast(NodeArgs& n) {
  n.integer("to");
  return cast_node(n, n.in(0), n.dtype("to", DType::kF32));
}

Items lower_cast_like(NodeArgs& n) { return cast_node(n, n.in(0), dtype_of(n.in(1))); }

Items lower_bit_cast(NodeArgs& n) {
  const Term x = n.in(0);
  n.integer("to");
  const DType dtype = n.dtype("to", DType::kF32);
  if (is_bool(dtype_of(x)) || is_bool(dtype)) {
    if (info(is_bool(dtype) ? dtype_of(x) : dtype).bits != 8) n.fail("both types must be of one size");
    const Term bytes = is_bool(dtype) ? cast_bits(x, DType::kUI8) : converted(x, DType::kUI8);
    return is_bool(dtype) ? converted(bytes, dtype) : cast_bits(bytes, dtype);
  }
  if (info(dtype).bits != info(dtype_of(x)).bits) n.fail("both types must be of one size");
  return cast_bits(x, dtype);
}

}  // namespace ingot::onnx
