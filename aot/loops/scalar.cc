#include "aot/loops/scalar.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "aot/base/error.h"
#include "aot/base/special_functions.h"
#include "aot/graph/literal.h"
#include "aot/loops/dot_pairs.h"
#include "aot/loops/math/functions.h"

namespace ingot::loops {
namespace {

Bits width_mask(DType dtype) {
  const int bits = ingot::info(dtype).bits;
  return bits == 64 ? ~Bits{0} : (Bits{1} << bits) - 1;
}

double math_function(ScalarOp op, double x, double y) {
  switch (op) {
#define MATH_OP(enumerator, name, arity, meaning) \
  case ScalarOp::enumerator:                      \
    return meaning;
#include "aot/loops/scalar_ops.def"
    default:
      throw_bug("'" + std::string(info(op).text) + "' has no meaning for floats");
  }
}

template <typename T>
T maximum(T a, T b) {
  if (std::isnan(a)) return a;
  if (std::isnan(b)) return b;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <typename T>
T minimum(T a, T b) {
  if (std::isnan(a)) return a;
  if (std::isnan(b)) return b;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

template <typename T>
T scale(T x, T shifted) {
  const T n = shifted - static_cast<T>(math::layout_of(std::is_same_v<T, double> ? DType::kF64 : DType::kF32).shift);
  constexpr T kBeyond = 1e4;
  return std::isnan(n) ? n : std::ldexp(x, static_cast<int>(std::clamp(n, -kBeyond, kBeyond)));
}

template <typename T>
bool compare(ScalarOp op, T a, T b) {
  switch (op) {
    case ScalarOp::kEqual:
      return a == b;
    case ScalarOp::kNotEqual:
      return a != b;
    case ScalarOp::kLess:
      return a < b;
    case ScalarOp::kLessEqual:
      return a <= b;
    case ScalarOp::kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

bool is_comparison(ScalarOp op) { return op >= ScalarOp::kEqual && op <= ScalarOp::kGreaterEqual; }

template <typename T, typename Word>
Bits apply_float(ScalarOp op, std::span<const Bits> args) {
  T v[3] = {};
  for (size_t k = 0; k < args.size(); ++k) v[k] = std::bit_cast<T>(static_cast<Word>(args[k]));
  if (is_comparison(op)) return compare(op, v[0], v[1]);
  const auto result = [&]() -> T {
    switch (op) {
      case ScalarOp::kAdd:
        return v[0] + v[1];
      case ScalarOp::kSubtract:
        return v[0] - v[1];
      case ScalarOp::kMultiply:
        return v[0] * v[1];
      case ScalarOp::kDivide:
        return v[0] / v[1];
      case ScalarOp::kRemainder:
        return std::fmod(v[0], v[1]);
      case ScalarOp::kMaximum:
        return maximum(v[0], v[1]);
      case ScalarOp::kMinimum:
        return minimum(v[0], v[1]);
      case ScalarOp::kFma:
        return std::fma(v[0], v[1], v[2]);
      case ScalarOp::kNegate:
        return -v[0];
      case ScalarOp::kAbs:
        return std::fabs(v[0]);
      case ScalarOp::kFloor:
        return std::floor(v[0]);
      case ScalarOp::kCeil:
        return std::ceil(v[0]);
      case ScalarOp::kRoundEven:
        return std::nearbyint(v[0]);
      case ScalarOp::kSqrt:
        return std::sqrt(v[0]);
      case ScalarOp::kScale:
        return scale(v[0], v[1]);
      default:
        return static_cast<T>(math_function(op, v[0], v[1]));
    }
  };
  if (op == ScalarOp::kIsFinite) return std::isfinite(v[0]);
  return std::bit_cast<Word>(result());
}

// i1 arithmetic is StableHLO's: add and maximum are or, multiply and minimum are and.
Bits apply_bool(ScalarOp op, std::span<const Bits> args) {
  if (is_comparison(op)) return compare(op, args[0], args[1]);
  switch (op) {
    case ScalarOp::kAdd:
    case ScalarOp::kMaximum:
    case ScalarOp::kOr:
      return args[0] | args[1];
    case ScalarOp::kMultiply:
    case ScalarOp::kMinimum:
    case ScalarOp::kAnd:
      return args[0] & args[1];
    case ScalarOp::kXor:
      return args[0] ^ args[1];
    case ScalarOp::kNot:
      return args[0] ^ 1;
    default:
      throw_bug("'" + std::string(info(op).text) + "' has no meaning for i1");
  }
}

// Unsigned results are wrapped by the caller.
Bits divide(DType dtype, Bits a, Bits b, bool remainder) {
  if (b == 0) return remainder ? a : ~Bits{0};
  if (!is_signed(dtype)) return remainder ? a % b : a / b;
  const int64_t x = int_of_bits(dtype, a);
  const int64_t y = int_of_bits(dtype, b);
  if (y == -1) return remainder ? 0 : Bits{0} - a;
  return static_cast<Bits>(remainder ? x % y : x / y);
}

Bits shift(ScalarOp op, DType dtype, Bits a, Bits amount) {
  const Bits width = ingot::info(dtype).bits;
  if (op == ScalarOp::kShiftRightArithmetic) {
    const int64_t x = static_cast<int64_t>(a << (64 - width)) >> (64 - width);
    return static_cast<Bits>(x >> (amount >= width ? 63 : amount));
  }
  if (amount >= width) return 0;
  return op == ScalarOp::kShiftLeft ? a << amount : a >> amount;
}

Bits dot_bytes(Bits a, Bits b, Bits c) {
  Bits sum = c;
  for (int shift = 0; shift < 32; shift += 8)
    sum += static_cast<uint8_t>(a >> shift) * static_cast<Bits>(static_cast<int8_t>(b >> shift));
  return sum;
}

Bits apply_integer(ScalarOp op, DType dtype, std::span<const Bits> args) {
  const Bits a = args[0];
  const Bits b = args.size() > 1 ? args[1] : 0;
  const auto less = [&](Bits x, Bits y) {
    return is_signed(dtype) ? int_of_bits(dtype, x) < int_of_bits(dtype, y) : x < y;
  };
  if (is_comparison(op)) {
    return is_signed(dtype) ? compare(op, int_of_bits(dtype, a), int_of_bits(dtype, b)) : compare(op, a, b);
  }
  const auto result = [&]() -> Bits {
    switch (op) {
      case ScalarOp::kAdd:
        return a + b;
      case ScalarOp::kSubtract:
        return a - b;
      case ScalarOp::kMultiply:
        return a * b;
      case ScalarOp::kDivide:
        return divide(dtype, a, b, false);
      case ScalarOp::kRemainder:
        return divide(dtype, a, b, true);
      case ScalarOp::kMaximum:
        return less(a, b) ? b : a;
      case ScalarOp::kMinimum:
        return less(b, a) ? b : a;
      case ScalarOp::kNegate:
        return Bits{0} - a;
      case ScalarOp::kAbs:
        return less(a, 0) ? Bits{0} - a : a;
      case ScalarOp::kAnd:
        return a & b;
      case ScalarOp::kOr:
        return a | b;
      case ScalarOp::kXor:
        return a ^ b;
      case ScalarOp::kNot:
        return ~a;
      case ScalarOp::kShiftLeft:
      case ScalarOp::kShiftRightLogical:
      case ScalarOp::kShiftRightArithmetic:
        return shift(op, dtype, a, b);
      case ScalarOp::kDotBytes:
        return dot_bytes(a, b, args[2]);
      case ScalarOp::kPopcnt:
        return std::popcount(a);
      case ScalarOp::kCountLeadingZeros:
        return std::countl_zero(a) - (64 - ingot::info(dtype).bits);
      default:
        throw_bug("'" + std::string(info(op).text) + "' has no meaning for integers");
    }
  };
  return result() & width_mask(dtype);
}

Bits float_to_integer(DType to, double value) {
  if (std::isnan(value)) return 0;
  const int bits = ingot::info(to).bits;
  const double limit = std::ldexp(1.0, is_signed(to) ? bits - 1 : bits);
  const Bits greatest = is_signed(to) ? width_mask(to) >> 1 : width_mask(to);
  if (value >= limit) return greatest;
  if (is_signed(to))
    return value < -limit ? greatest + 1 : static_cast<Bits>(static_cast<int64_t>(value)) & width_mask(to);
  return value <= 0 ? 0 : static_cast<Bits>(value);
}

Bits integer_to_float(DType from, DType to, Bits bits) {
  const int64_t value = int_of_bits(from, bits);
  if (to == DType::kF32) {
    return std::bit_cast<uint32_t>(is_signed(from) ? static_cast<float>(value) : static_cast<float>(bits));
  }
  return std::bit_cast<Bits>(is_signed(from) ? static_cast<double>(value) : static_cast<double>(bits));
}

}  // namespace

Bits bits_of_float(DType dtype, double value) {
  return dtype == DType::kF32 ? std::bit_cast<uint32_t>(static_cast<float>(value)) : std::bit_cast<Bits>(value);
}

Bits bits_of_int(DType dtype, int64_t value) { return static_cast<Bits>(value) & width_mask(dtype); }

double float_of_bits(DType dtype, Bits bits) {
  return dtype == DType::kF32 ? std::bit_cast<float>(static_cast<uint32_t>(bits)) : std::bit_cast<double>(bits);
}

int64_t int_of_bits(DType dtype, Bits bits) {
  const int unused = 64 - ingot::info(dtype).bits;
  return is_signed(dtype) ? static_cast<int64_t>(bits << unused) >> unused : static_cast<int64_t>(bits);
}

Bits apply_scalar(ScalarOp op, DType dtype, std::span<const Bits> args) {
  if (op == ScalarOp::kSelect) return args[0] != 0 ? args[1] : args[2];
  if (op == ScalarOp::kDotPairs) return dot_pairs(args[0], args[1], args[2]);
  if (op == ScalarOp::kDotPairsToOdd) return dot_pairs_to_odd(args[0], args[1], args[2]);
  if (dtype == DType::kF32) return apply_float<float, uint32_t>(op, args);
  if (dtype == DType::kF64) return apply_float<double, uint64_t>(op, args);
  return is_bool(dtype) ? apply_bool(op, args) : apply_integer(op, dtype, args);
}

Bits convert_scalar(DType from, DType to, Bits bits) {
  if (from == to) return bits;
  if (is_float(from)) {
    const double value = float_of_bits(from, bits);
    if (is_float(to)) return bits_of_float(to, value);
    return is_bool(to) ? value != 0 : float_to_integer(to, value);
  }
  if (is_float(to)) return integer_to_float(from, to, bits);
  return is_bool(to) ? bits != 0 : bits_of_int(to, int_of_bits(from, bits));
}

Bits round_scalar(DType dtype, DType to, Bits bits) {
  if (dtype == to) return bits;
  return bits_of_float(dtype, round_to(to, float_of_bits(dtype, bits)));
}

Bits load_scalar(DType dtype, const std::byte* from) {
  if (register_dtype(dtype) != dtype) return bits_of_float(DType::kF32, load_float(dtype, from));
  Bits bits = 0;
  std::memcpy(&bits, from, ingot::info(dtype).bytes);
  return is_bool(dtype) ? bits != 0 : bits & width_mask(dtype);
}

void store_scalar(DType dtype, Bits bits, std::byte* to) {
  if (register_dtype(dtype) != dtype) return store_float(dtype, float_of_bits(DType::kF32, bits), to);
  const Bits bytes = is_signed(dtype) ? static_cast<Bits>(int_of_bits(dtype, bits)) : bits;
  std::memcpy(to, &bytes, ingot::info(dtype).bytes);
}

}  // namespace ingot::loops
