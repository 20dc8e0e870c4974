// f8, f6 and f4: every value of each type, and everything of 16 bits rounded to it, by definition, by evaluation and by
// compiled code.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "aot/graph/float_bits.h"
#include "tests/support/compiled_case.h"

namespace ingot {
namespace {

// A type as the papers that introduce it say.
struct Format {
  DType dtype;
  int exponent_bits, mantissa_bits, bias;
  double greatest, least;        // positive
  std::vector<uint32_t> others;  // bits that are no numbers: infinities and NaNs
  double of_huge;                // what 1e30 becomes
};

std::vector<uint32_t> range(uint32_t first, uint32_t last) {
  std::vector<uint32_t> values(last - first + 1);
  std::iota(values.begin(), values.end(), first);
  return values;
}

std::vector<uint32_t> with_minus(std::vector<uint32_t> values) {
  for (size_t count = values.size(), k = 0; k < count; ++k) values.push_back(values[k] | 0x80);
  return values;
}

const std::vector<Format>& formats() {
  static const std::vector<Format> kFormats = {
      {DType::kF4E2M1FN, 2, 1, 1, 6, 0.5, {}, 6},
      {DType::kF6E2M3FN, 2, 3, 1, 7.5, 0.125, {}, 7.5},
      {DType::kF6E3M2FN, 3, 2, 3, 28, 0.0625, {}, 28},
      {DType::kF8E3M4, 3, 4, 3, 15.5, 0x1p-6, with_minus(range(0x70, 0x7F)), INFINITY},
      {DType::kF8E4M3, 4, 3, 7, 240, 0x1p-9, with_minus(range(0x78, 0x7F)), INFINITY},
      {DType::kF8E4M3B11FNUZ, 4, 3, 11, 30, 0x1p-13, {0x80}, NAN},
      {DType::kF8E4M3FN, 4, 3, 7, 448, 0x1p-9, {0x7F, 0xFF}, NAN},
      {DType::kF8E4M3FNUZ, 4, 3, 8, 240, 0x1p-10, {0x80}, NAN},
      {DType::kF8E5M2, 5, 2, 15, 57344, 0x1p-16, with_minus(range(0x7C, 0x7F)), INFINITY},
      {DType::kF8E5M2FNUZ, 5, 2, 16, 57344, 0x1p-17, {0x80}, NAN},
      {DType::kF8E8M0FNU, 8, 0, 127, 0x1p127, 0x1p-127, {0xFF}, 0x1p100},
  };
  return kFormats;
}

bool is_power(const Format& format) { return format.dtype == DType::kF8E8M0FNU; }

uint32_t count_of(const Format& format) { return 1U << info(format.dtype).bits; }

double number(const Format& format, uint32_t bits) {
  if (is_power(format)) return std::ldexp(1, static_cast<int>(bits) - 127);
  const uint32_t mantissa = bits & ((1U << format.mantissa_bits) - 1);
  const uint32_t exponent = bits >> format.mantissa_bits & ((1U << format.exponent_bits) - 1);
  const double sign = bits >> (format.mantissa_bits + format.exponent_bits) ? -1 : 1;
  const double fraction = std::ldexp(mantissa, -format.mantissa_bits);
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - format.bias)
                               : std::ldexp(1 + fraction, static_cast<int>(exponent) - format.bias));
}

// Rounds by looking at all values that there are.
class Nearest {
 public:
  explicit Nearest(const Format& format) : format_(format) {
    for (uint32_t bits = 0; bits < count_of(format); ++bits) {
      if (!std::ranges::count(format.others, bits) && !std::signbit(number(format, bits))) {
        values_.push_back(number(format, bits));  // ascending; the index is the bits
      }
    }
    // One more step up: from halfway to it on, numbers are too large.
    const int step = format.mantissa_bits;
    const double last = values_.back();
    limit_ = is_power(format) ? last * 1.5 : last + std::ldexp(0.5, std::ilogb(last) - step);
  }

  double operator()(double x) const {
    const bool has_zero_sign = format_.others != std::vector<uint32_t>{0x80};
    if (std::isnan(x) || (is_power(format_) && x < 0)) return format_.others.empty() ? -0.0 : NAN;
    const double size = std::abs(x);
    // Halfway to the step that is not there: to even.
    const bool is_odd = (values_.size() - 1) % 2;
    double rounded = 0;
    if (size > limit_ || (size == limit_ && is_odd)) {
      const bool has_infinity = std::isinf(format_.of_huge);
      rounded = has_infinity ? INFINITY : format_.others.empty() ? values_.back() : NAN;
    } else {
      const auto above = std::lower_bound(values_.begin(), values_.end(), size);
      if (above == values_.begin()) {
        rounded = *above;
      } else if (above == values_.end()) {
        rounded = values_.back();
      } else {
        const double low = *(above - 1), high = *above;
        const bool is_tie = size - low == high - size;
        const bool is_low_even = (above - 1 - values_.begin()) % 2 == 0;
        rounded = size - low < high - size || (is_tie && is_low_even) ? low : high;
      }
    }
    return std::signbit(x) && !is_power(format_) && (rounded != 0 || has_zero_sign) ? -rounded : rounded;
  }

 private:
  const Format& format_;
  std::vector<double> values_;
  double limit_;
};

// All bits of a type of at most 16.
RefTensor every_value(DType dtype) {
  RefTensor tensor({dtype, {int64_t{1} << info(dtype).bits}});
  for (int64_t k = 0; k < tensor.elements(); ++k) tensor.f[k] = float_from_bits(dtype, k);
  return tensor;
}

// Numbers of a wider type of all sizes that matter, and all ties of a type with their neighbours.
RefTensor numbers_around(const Format& format, DType dtype) {
  std::vector<double> values = {0, -0.0, NAN, INFINITY, -INFINITY, 1e30, -1e30, 0x1p-140, -0x1p-149};
  const int digits = dtype == DType::kF64 ? 52 : 23;
  for (uint32_t bits = 0; bits + 1 < count_of(format); ++bits) {
    const double low = number(format, bits), high = number(format, bits + 1);
    if (std::isinf(high) || std::signbit(low) != std::signbit(high)) continue;
    const double tie = low + (high - low) / 2;
    const double step = std::ldexp(1, std::max(std::ilogb(tie), -126) - digits);
    for (const double value : {low, tie - step, tie, tie + step}) values.push_back(value);
  }
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponents(-20, 18), parts(-1, 1);
  while (values.size() < 20000) values.push_back(parts(random) * std::exp2(exponents(random)));
  RefTensor tensor({dtype, {static_cast<int64_t>(values.size())}});
  tensor.f = std::move(values);
  round_in_place(tensor);
  return tensor;
}

TEST(NarrowFloat, ValuesAreThoseOfTheSpecification) {
  for (const Format& format : formats()) {
    double greatest = 0, least = INFINITY;
    for (uint32_t bits = 0; bits < count_of(format); ++bits) {
      const double value = float_from_bits(format.dtype, bits);
      if (std::ranges::count(format.others, bits)) {
        EXPECT_FALSE(std::isfinite(value)) << to_string(format.dtype) << " " << bits;
        continue;
      }
      EXPECT_TRUE(is_same(value, number(format, bits))) << to_string(format.dtype) << " " << bits;
      EXPECT_EQ(float_bits(format.dtype, value), bits) << to_string(format.dtype);
      greatest = std::max(greatest, value);
      if (value > 0) least = std::min(least, value);
    }
    EXPECT_EQ(greatest, format.greatest) << to_string(format.dtype);
    EXPECT_EQ(least, format.least) << to_string(format.dtype);
    EXPECT_TRUE(is_same(round_to(format.dtype, is_power(format) ? 0x1p100 : 1e30), format.of_huge));
  }
}

TEST(NarrowFloat, RoundsToNearestEven) {
  for (const Format& format : formats()) {
    const Nearest nearest(format);
    for (const RefTensor& tensor : {every_value(DType::kF16), every_value(DType::kBF16),
                                    numbers_around(format, DType::kF32), numbers_around(format, DType::kF64)}) {
      for (const double value : tensor.f) {
        const double rounded = round_to(format.dtype, value);
        ASSERT_TRUE(is_same(rounded, nearest(value)))
            << to_string(format.dtype) << " of " << value << " is " << rounded << ", not " << nearest(value);
      }
    }
  }
}

// --- compiled --------------------------------------------------------------------------------------------------------

CompiledCase convert(RefTensor x, DType to) {
  const TensorType result{to, x.type.shape};
  return {fmt::format("%r = stablehlo.convert %x0 : ({}) -> {}", to_string(x.type), to_string(result)),
          {std::move(x)},
          result};
}

TEST(NarrowFloat, ConvertsToAndFrom) {
  std::vector<CompiledCase> cases;
  for (const Format& format : formats()) {
    cases.push_back(convert(every_value(DType::kF16), format.dtype));
    cases.push_back(convert(every_value(DType::kBF16), format.dtype));
    cases.push_back(convert(numbers_around(format, DType::kF32), format.dtype));
    cases.push_back(convert(numbers_around(format, DType::kF64), format.dtype));
    for (const DType to : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64, DType::kI8, DType::kI1}) {
      cases.push_back(convert(every_value(format.dtype), to));
    }
    for (const Format& other : formats()) {
      if (other.dtype != format.dtype) cases.push_back(convert(every_value(format.dtype), other.dtype));
    }
    RefTensor integers({DType::kI32, {2001}});
    for (int64_t k = 0; k < integers.elements(); ++k) integers.i[k] = (k - 1000) * (k % 3 ? 1 : 2097153);
    cases.push_back(convert(integers, format.dtype));
  }
  expect_agreement(cases);
}

TEST(NarrowFloat, ComputesInF32AndRounds) {
  std::vector<CompiledCase> cases;
  for (const Format& format : formats()) {
    // Every pair of values.
    const RefTensor values = every_value(format.dtype);
    const int64_t count = values.elements();
    const TensorType type{format.dtype, {count * count}};
    RefTensor x(type), y(type);
    for (int64_t k = 0; k < count * count; ++k) x.f[k] = values.f[k / count], y.f[k] = values.f[k % count];
    for (const char* op : {"add", "multiply", "maximum"}) {
      cases.push_back({fmt::format("%r = stablehlo.{} %x0, %x1 : {}", op, to_string(type)), {x, y}, type});
    }
    const TensorType truth{DType::kI1, type.shape};
    cases.push_back(
        {fmt::format("%r = stablehlo.compare LT, %x0, %x1 : ({0}, {0}) -> {1}", to_string(type), to_string(truth)),
         {x, y},
         truth});
    cases.push_back(
        {fmt::format("%r = stablehlo.reverse %x0, dims = [0] : {}", to_string(values.type)), {values}, values.type});
    if (info(format.dtype).bits != 6) {
      const TensorType bits{info(format.dtype).bits == 4 ? DType::kI4 : DType::kI8, values.type.shape};
      cases.push_back(
          {fmt::format("%r = stablehlo.bitcast_convert %x0 : ({}) -> {}", to_string(values.type), to_string(bits)),
           {values},
           bits});
    }
  }
  expect_agreement(cases);
}

RefTensor drawn(const TensorType& type, uint64_t seed) {
  RefTensor tensor(type);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> values(-2, 2);
  for (double& value : tensor.f) value = values(random);
  round_in_place(tensor);
  return tensor;
}

// Whole programs, with regions and loops; results are exact in f32, so that no order of sums matters.
TEST(NarrowFloat, RunsInPrograms) {
  const TensorType a{DType::kF8E4M3FN, {7, 16}}, b{DType::kF8E5M2, {16, 5}}, f32{DType::kF32, {7, 5}};
  const TensorType half{DType::kBF16, {7, 5}}, row{DType::kF8E4M3FN, {7}};
  std::vector<CompiledCase> cases;
  cases.push_back(
      {"%r = stablehlo.dot_general %x0, %x1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : "
       "(tensor<7x16xf8E4M3FN>, tensor<16x5xf8E5M2>) -> tensor<7x5xf32>",
       {drawn(a, 1), drawn(b, 2)},
       f32});
  cases.push_back(
      {"%r = stablehlo.dot_general %x0, %x1, contracting_dims = [1] x [0] : (tensor<7x16xf8E4M3FN>, "
       "tensor<16x5xf8E5M2>) -> tensor<7x5xbf16>",
       {drawn(a, 1), drawn(b, 2)},
       half});
  cases.push_back(
      {"%0 = stablehlo.constant dense<0.5> : tensor<f8E4M3FN>\n"
       "  %r = stablehlo.reduce(%x0 init: %0) applies stablehlo.add across dimensions = [1] : "
       "(tensor<7x16xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<7xf8E4M3FN>",
       {drawn(a, 3)},
       row});
  cases.push_back(
      {"%0 = stablehlo.constant dense<0.5> : tensor<f8E4M3FN>\n"
       "  %r = \"stablehlo.reduce\"(%x0, %0) <{dimensions = array<i64: 1>}> ({\n"
       "  ^bb0(%a: tensor<f8E4M3FN>, %b: tensor<f8E4M3FN>):\n"
       "    %half = stablehlo.constant dense<0.5> : tensor<f8E4M3FN>\n"
       "    %s = stablehlo.multiply %b, %half : tensor<f8E4M3FN>\n"
       "    %w = stablehlo.convert %s : (tensor<f8E4M3FN>) -> tensor<f32>\n"
       "    %n = stablehlo.convert %w : (tensor<f32>) -> tensor<f8E5M2>\n"
       "    %c = stablehlo.convert %n : (tensor<f8E5M2>) -> tensor<f8E4M3FN>\n"
       "    %r = stablehlo.add %a, %c : tensor<f8E4M3FN>\n"
       "    stablehlo.return %r : tensor<f8E4M3FN>\n"
       "  }) : (tensor<7x16xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<7xf8E4M3FN>",
       {drawn(a, 3)},
       row});
  cases.push_back(
      {"%0 = stablehlo.constant dense<0.5> : tensor<f8E4M3FN>\n"
       "  %r = \"stablehlo.reduce\"(%x0, %0) <{dimensions = array<i64: 1>}> ({\n"
       "  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):\n"
       "    %s = stablehlo.maximum %a, %b : tensor<bf16>\n"
       "    stablehlo.return %s : tensor<bf16>\n"
       "  }) : (tensor<7x16xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<7xbf16>",
       {drawn(a, 3)},
       {DType::kBF16, {7}}});
  cases.push_back(
      {"%r = \"stablehlo.sort\"(%x0) <{dimension = 1 : i64, is_stable = true}> ({\n"
       "  ^bb0(%a: tensor<f8E4M3FN>, %b: tensor<f8E4M3FN>):\n"
       "    %c = stablehlo.compare LT, %a, %b : (tensor<f8E4M3FN>, tensor<f8E4M3FN>) -> tensor<i1>\n"
       "    stablehlo.return %c : tensor<i1>\n"
       "  }) : (tensor<7x16xf8E4M3FN>) -> tensor<7x16xf8E4M3FN>",
       {drawn(a, 4)},
       a});
  cases.push_back(
      {"%n = stablehlo.constant dense<3> : tensor<i32>\n"
       "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
       "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
       "  %o:2 = stablehlo.while(%i = %zero, %v = %x0) : tensor<i32>, tensor<7x16xf8E4M3FN>\n"
       "  cond {\n"
       "    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
       "    stablehlo.return %c : tensor<i1>\n"
       "  } do {\n"
       "    %j = stablehlo.add %i, %one : tensor<i32>\n"
       "    %w = stablehlo.multiply %v, %x0 : tensor<7x16xf8E4M3FN>\n"
       "    %t = stablehlo.tanh %w : tensor<7x16xf8E4M3FN>\n"
       "    stablehlo.return %j, %t : tensor<i32>, tensor<7x16xf8E4M3FN>\n"
       "  }\n"
       "  %r = stablehlo.convert %o#1 : (tensor<7x16xf8E4M3FN>) -> tensor<7x16xf32>",
       {drawn(a, 5)},
       {DType::kF32, {7, 16}}});
  expect_agreement(cases);
}

}  // namespace
}  // namespace ingot
