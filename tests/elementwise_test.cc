// What numbers mean, pinned: the reference evaluation of elementwise ops at the places where definitions differ.
#include <gtest/gtest.h>

#include <cmath>

#include "aot/graph/evaluate.h"
#include "aot/ops/build.h"

namespace ingot {
namespace {

constexpr double kInfinity = INFINITY;
constexpr double kNaN = NAN;

RefTensor tensor(DType dtype, const std::vector<double>& values) {
  RefTensor result({dtype, {static_cast<int64_t>(values.size())}});
  for (size_t k = 0; k < values.size(); ++k) {
    if (result.is_float()) {
      result.f[k] = values[k];
    } else {
      result.i[k] = static_cast<int64_t>(values[k]);
    }
  }
  return result;
}

// The only result of `name` on tensors of rank 1.
RefTensor run(std::string_view name, const std::vector<RefTensor>& inputs, AttrMap attrs = {},
              std::vector<TensorType> declared = {}) {
  Block block;
  GraphBuilder b(all_ops());
  b.at_end(block);
  Values operands;
  for (const RefTensor& input : inputs) operands.push_back(block.add_argument(input.type));
  const Op* op = b.create(name, operands, std::move(attrs), std::move(declared));
  return evaluate(*op, inputs)[0];
}

void expect_values(const RefTensor& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.elements(), static_cast<int64_t>(expected.size()));
  for (size_t k = 0; k < expected.size(); ++k) {
    const double value = actual.is_float() ? actual.f[k] : static_cast<double>(actual.i[k]);
    if (std::isnan(expected[k])) {
      EXPECT_TRUE(std::isnan(value)) << "element " << k << " is " << value;
    } else {
      EXPECT_EQ(value, expected[k]) << "element " << k;
      EXPECT_EQ(std::signbit(value), std::signbit(expected[k])) << "element " << k << " is " << value;
    }
  }
}

void expect_unary(std::string_view name, DType dtype, const std::vector<double>& x, const std::vector<double>& y) {
  SCOPED_TRACE(std::string(name) + " " + to_string(dtype));
  expect_values(run(name, {tensor(dtype, x)}), y);
}

void expect_binary(std::string_view name, DType dtype, const std::vector<double>& x, const std::vector<double>& y,
                   const std::vector<double>& z) {
  SCOPED_TRACE(std::string(name) + " " + to_string(dtype));
  expect_values(run(name, {tensor(dtype, x), tensor(dtype, y)}), z);
}

void expect_convert(DType from, DType to, const std::vector<double>& x, const std::vector<double>& y) {
  SCOPED_TRACE(to_string(from) + " to " + to_string(to));
  const RefTensor input = tensor(from, x);
  expect_values(run("stablehlo.convert", {input}, {}, {{to, input.type.shape}}), y);
}

TEST(Elementwise, MaximumAndMinimumPropagateNaNAndOrderZeros) {
  expect_binary("stablehlo.maximum", DType::kF32, {1, kNaN, 1, -0.0, 0}, {2, 1, kNaN, 0, -0.0}, {2, kNaN, kNaN, 0, 0});
  expect_binary("stablehlo.minimum", DType::kF32, {1, kNaN, 1, -0.0, 0}, {2, 1, kNaN, 0, -0.0},
                {1, kNaN, kNaN, -0.0, -0.0});
}

TEST(Elementwise, IntegersWrap) {
  expect_binary("stablehlo.add", DType::kI8, {127, -128}, {1, -1}, {-128, 127});
  expect_binary("stablehlo.add", DType::kUI8, {255}, {1}, {0});
  expect_binary("stablehlo.multiply", DType::kI4, {7}, {3}, {5});
  expect_unary("stablehlo.negate", DType::kI8, {-128, 5}, {-128, -5});
  expect_unary("stablehlo.abs", DType::kI8, {-128, -5}, {-128, 5});
  expect_binary("stablehlo.power", DType::kI8, {2, 3, -1, -1, 5, 1, 0}, {7, 2, -3, -2, -1, -9, 0},
                {-128, 9, -1, 1, 0, 1, 1});
}

TEST(Elementwise, TruthValuesAddAsOrAndMultiplyAsAnd) {
  expect_binary("stablehlo.add", DType::kI1, {0, 1, 1}, {0, 0, 1}, {0, 1, 1});
  expect_binary("stablehlo.multiply", DType::kI1, {0, 1, 1}, {0, 0, 1}, {0, 0, 1});
  expect_unary("stablehlo.not", DType::kI1, {0, 1}, {1, 0});
  expect_unary("stablehlo.not", DType::kUI8, {0, 5}, {255, 250});
}

TEST(Elementwise, DivisionByZeroAndOfTheLeastIntegerIsDefined) {
  expect_binary("stablehlo.divide", DType::kI32, {7, -7, 5, -2147483648.0}, {-2, 2, 0, -1},
                {-3, -3, -1, -2147483648.0});
  expect_binary("stablehlo.remainder", DType::kI32, {7, -7, 5, -2147483648.0}, {-2, 2, 0, -1}, {1, -1, 5, 0});
  expect_binary("stablehlo.divide", DType::kUI8, {200, 5}, {3, 0}, {66, 255});
  expect_binary("stablehlo.remainder", DType::kF32, {5, -5, 5.5, 1}, {3, 3, -2, 0}, {2, -2, 1.5, kNaN});
}

TEST(Elementwise, ShiftsBeyondTheWidthGiveZeroOrTheSign) {
  expect_binary("stablehlo.shift_left", DType::kI8, {1, 1, 1, 1}, {6, 7, 8, -1}, {64, -128, 0, 0});
  expect_binary("stablehlo.shift_right_logical", DType::kI8, {-1, -1, -1}, {1, 8, -1}, {127, 0, 0});
  expect_binary("stablehlo.shift_right_arithmetic", DType::kI8, {-2, -2, 100, -2}, {1, 8, 8, -1}, {-1, -1, 0, -1});
  expect_binary("stablehlo.shift_right_arithmetic", DType::kUI8, {128}, {1}, {192});
  expect_unary("stablehlo.popcnt", DType::kI8, {-1, 0, 5}, {8, 0, 2});
  expect_unary("stablehlo.count_leading_zeros", DType::kI4, {-1, 0, 1}, {0, 4, 3});
}

TEST(Elementwise, FloatsBecomeIntegersTowardZeroAndSaturate) {
  expect_convert(DType::kF32, DType::kI8, {1.9, -1.9, 200, -200, kNaN, kInfinity}, {1, -1, 127, -128, 0, 127});
  expect_convert(DType::kF32, DType::kUI8, {-1, 256, 255.5}, {0, 255, 255});
  expect_convert(DType::kF32, DType::kI1, {0, -0.0, 0.5, kNaN}, {0, 0, 1, 1});
  expect_convert(DType::kF64, DType::kI64, {1e30, -1e30}, {9223372036854775807.0, -9223372036854775808.0});
  expect_convert(DType::kI32, DType::kI8, {300}, {44});
  // Halfway between two f32 but for the last bit: one rounding, not two.
  RefTensor x({DType::kI64, {1}});
  x.i[0] = (int64_t{1} << 60) + (int64_t{1} << 36) + 1;
  expect_values(run("stablehlo.convert", {x}, {}, {{DType::kF32, {1}}}), {0x1p60 + 0x1p37});
}

TEST(Elementwise, RoundingAndSigns) {
  expect_unary("stablehlo.round_nearest_afz", DType::kF32, {0.5, -0.5, 2.5, 0.49999997, -0.0}, {1, -1, 3, 0, -0.0});
  expect_unary("stablehlo.round_nearest_even", DType::kF32, {0.5, -0.5, 2.5, 3.5}, {0, -0.0, 2, 4});
  expect_unary("stablehlo.sign", DType::kF32, {-3, -0.0, 0, 2, kNaN}, {-1, -0.0, 0, 1, kNaN});
}

TEST(Elementwise, ComparisonsWithNaNAndInTotalOrder) {
  const RefTensor x = tensor(DType::kF32, {1, kNaN, -0.0}), y = tensor(DType::kF32, {1, 1, 0});
  const auto compare = [&](const char* direction, const char* type) {
    return run("stablehlo.compare", {x, y},
               {{"comparison_direction", EnumAttr{"comparison_direction", direction}},
                {"compare_type", EnumAttr{"comparison_type", type}}});
  };
  expect_values(compare("NE", "FLOAT"), {0, 1, 0});
  expect_values(compare("LE", "FLOAT"), {1, 0, 1});
  expect_values(compare("LT", "TOTALORDER"), {0, 0, 1});
  expect_values(compare("GT", "TOTALORDER"), {0, 1, 0});
}

TEST(Elementwise, ReducePrecisionRoundsToEvenAndFlushesDenormals) {
  const RefTensor x = tensor(DType::kF32, {1.0009765625, 1.00048828125, 65520, 65519, 0x1p-15, -0x1p-15, kInfinity});
  expect_values(run("stablehlo.reduce_precision", {x}, {{"exponent_bits", IntAttr{5}}, {"mantissa_bits", IntAttr{10}}}),
                {1.0009765625, 1, kInfinity, 65504, 0, -0.0, kInfinity});
}

TEST(Elementwise, InverseErrorFunctionInvertsErf) {
  const RefTensor x = tensor(DType::kF64, {0, 1e-10, 0.3, -0.9, 0.999999, 1, -1, 1.5});
  const RefTensor y = run("chlo.erf_inv", {x});
  for (int k = 0; k < 5; ++k) EXPECT_NEAR(std::erf(y.f[k]), x.f[k], 2e-16);
  EXPECT_EQ(y.f[5], kInfinity);
  EXPECT_EQ(y.f[6], -kInfinity);
  EXPECT_TRUE(std::isnan(y.f[7]));
}

TEST(Elementwise, MistakesAreErrorsThatNameTheTypes) {
  const auto message = [](std::string_view name, const std::vector<RefTensor>& inputs) -> std::string {
    try {
      run(name, inputs);
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  };
  EXPECT_EQ(message("stablehlo.tanh", {tensor(DType::kI32, {1})}),
            "stablehlo.tanh: is not defined for tensor<1xi32>; it takes floats");
  EXPECT_EQ(
      message("stablehlo.add", {tensor(DType::kI32, {1}), tensor(DType::kI32, {1, 2})}),
      "stablehlo.add: operands must have one type, but operand 0 is tensor<1xi32> and operand 1 is tensor<2xi32>");
  EXPECT_EQ(message("stablehlo.add", {tensor(DType::kI32, {1})}), "stablehlo.add: takes 2 operands, has 1");
}

}  // namespace
}  // namespace ingot
