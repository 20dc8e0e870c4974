#include "aot/graph/literal.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "aot/base/error.h"
#include "aot/graph/narrow_float.h"

namespace ingot {
namespace {

// Rounds to `mantissa_bits` explicit mantissa bits and least normal exponent `min_exponent`; overflow goes to infinity.
double round_mantissa(double value, int mantissa_bits, int min_exponent, double max_finite) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), min_exponent);
  const double unit = std::ldexp(1.0, exponent - mantissa_bits);
  const double rounded = std::nearbyint(value / unit) * unit;
  if (std::abs(rounded) > max_finite) return std::copysign(INFINITY, value);
  return std::copysign(rounded, value);
}

uint16_t f16_bits(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7E00;
  const double rounded = std::abs(round_to(DType::kF16, value));
  if (std::isinf(rounded)) return sign | 0x7C00;
  if (rounded < 0x1p-14) return sign | static_cast<uint16_t>(rounded * 0x1p24);
  const int exponent = std::ilogb(rounded);
  return sign | static_cast<uint16_t>((exponent + 15) << 10) |
         static_cast<uint16_t>((std::ldexp(rounded, -exponent) - 1) * 1024);
}

double f16_value(uint16_t bits) {
  const double sign = bits & 0x8000 ? -1 : 1;
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  if (exponent == 31) return mantissa ? std::copysign(NAN, sign) : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

template <typename T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void write(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

double round_to(DType dtype, double value) {
  if (is_narrow_float(dtype)) {
    const NarrowFloat& format = narrow_float(dtype);
    return narrow_float_value(format, narrow_float_bits(format, value));
  }
  switch (dtype) {
    case DType::kF64:
      return value;
    case DType::kF32:
      return static_cast<float>(value);
    case DType::kF16:
      return round_mantissa(value, 10, -14, 65504);
    case DType::kBF16:
      return round_mantissa(value, 7, -126, 0x1.FEp127);
    default:
      throw_bug("round_to: " + to_string(dtype) + " is not a float type");
  }
}

int64_t wrap_to(DType dtype, int64_t value) {
  const int bits = info(dtype).bits;
  if (is_bool(dtype)) return value != 0;
  if (bits == 64) return value;
  const uint64_t masked = static_cast<uint64_t>(value) & ((uint64_t{1} << bits) - 1);
  const bool negative = is_signed(dtype) && (masked >> (bits - 1));
  return static_cast<int64_t>(negative ? masked | ~((uint64_t{1} << bits) - 1) : masked);
}

double load_float(DType dtype, const std::byte* from) {
  if (is_narrow_float(dtype)) return narrow_float_value(narrow_float(dtype), read<uint8_t>(from));
  switch (dtype) {
    case DType::kF64:
      return read<double>(from);
    case DType::kF32:
      return read<float>(from);
    case DType::kF16:
      return f16_value(read<uint16_t>(from));
    case DType::kBF16:
      return std::bit_cast<float>(static_cast<uint32_t>(read<uint16_t>(from)) << 16);
    default:
      throw_bug("load_float: " + to_string(dtype) + " is not a float type");
  }
}

void store_float(DType dtype, double value, std::byte* to) {
  if (is_narrow_float(dtype)) return write(static_cast<uint8_t>(narrow_float_bits(narrow_float(dtype), value)), to);
  switch (dtype) {
    case DType::kF64:
      return write(value, to);
    case DType::kF32:
      return write(static_cast<float>(value), to);
    case DType::kF16:
      return write(f16_bits(value), to);
    case DType::kBF16: {
      if (std::isnan(value)) return write<uint16_t>(std::signbit(value) ? 0xFFC0 : 0x7FC0, to);
      const auto exact = static_cast<float>(round_to(dtype, value));
      return write(static_cast<uint16_t>(std::bit_cast<uint32_t>(exact) >> 16), to);
    }
    default:
      throw_bug("store_float: " + to_string(dtype) + " is not a float type");
  }
}

std::complex<double> load_complex(DType dtype, const std::byte* from) {
  const DType part = part_of(dtype);
  return {load_float(part, from), load_float(part, from + info(part).bytes)};
}

void store_complex(DType dtype, std::complex<double> value, std::byte* to) {
  const DType part = part_of(dtype);
  store_float(part, value.real(), to);
  store_float(part, value.imag(), to + info(part).bytes);
}

int64_t load_int(DType dtype, const std::byte* from) {
  switch (info(dtype).bytes) {
    case 1:
      return wrap_to(dtype, read<uint8_t>(from));
    case 2:
      return wrap_to(dtype, read<uint16_t>(from));
    case 4:
      return wrap_to(dtype, read<uint32_t>(from));
    default:
      return read<int64_t>(from);
  }
}

void store_int(DType dtype, int64_t value, std::byte* to) {
  value = wrap_to(dtype, value);
  switch (info(dtype).bytes) {
    case 1:
      return write(static_cast<uint8_t>(value), to);
    case 2:
      return write(static_cast<uint16_t>(value), to);
    case 4:
      return write(static_cast<uint32_t>(value), to);
    default:
      return write(value, to);
  }
}

double Literal::float_at(int64_t index) const {
  return load_float(type.dtype, data.data() + (is_splat ? 0 : index * info(type.dtype).bytes));
}

int64_t Literal::int_at(int64_t index) const {
  return load_int(type.dtype, data.data() + (is_splat ? 0 : index * info(type.dtype).bytes));
}

std::complex<double> Literal::complex_at(int64_t index) const {
  return load_complex(type.dtype, data.data() + (is_splat ? 0 : index * info(type.dtype).bytes));
}

std::vector<std::byte> Literal::dense_bytes() const {
  if (!is_splat) return data;
  std::vector<std::byte> bytes;
  bytes.reserve(type.bytes());
  for (int64_t i = 0; i < type.elements(); ++i) bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

bool operator==(const Literal& a, const Literal& b) {
  if (a.type != b.type) return false;
  return a.is_splat == b.is_splat ? a.data == b.data : a.dense_bytes() == b.dense_bytes();
}

LiteralRef splat(TensorType type, double value) {
  if (!is_float(type.dtype) && !is_complex(type.dtype)) return splat_int(std::move(type), static_cast<int64_t>(value));
  auto literal = std::make_shared<Literal>();
  literal->data.resize(info(type.dtype).bytes);
  is_float(type.dtype) ? store_float(type.dtype, value, literal->data.data())
                       : store_complex(type.dtype, value, literal->data.data());
  literal->type = std::move(type);
  literal->is_splat = true;
  return literal;
}

LiteralRef splat_int(TensorType type, int64_t value) {
  if (is_float(type.dtype) || is_complex(type.dtype)) return splat(std::move(type), static_cast<double>(value));
  auto literal = std::make_shared<Literal>();
  literal->data.resize(info(type.dtype).bytes);
  store_int(type.dtype, value, literal->data.data());
  literal->type = std::move(type);
  literal->is_splat = true;
  return literal;
}

LiteralRef dense(TensorType type, std::vector<std::byte> data) {
  INGOT_CHECK(static_cast<int64_t>(data.size()) == type.bytes());
  auto literal = std::make_shared<Literal>();
  literal->type = std::move(type);
  literal->data = std::move(data);
  return literal;
}

LiteralRef dense_ints(const std::vector<int64_t>& values, DType dtype) {
  std::vector<std::byte> data(values.size() * info(dtype).bytes);
  for (size_t i = 0; i < values.size(); ++i) store_int(dtype, values[i], data.data() + i * info(dtype).bytes);
  return dense({dtype, {static_cast<int64_t>(values.size())}}, std::move(data));
}

}  // namespace ingot
