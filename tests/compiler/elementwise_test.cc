// What numbers mean, pinned: the reference evaluation of elementwise ops at the places where definitions differ.
#include <gtest/gtest.h>

#include <cmath>

#include "aot/base/special_functions.h"
#include "aot/graph/evaluate.h"
#include "aot/ops/support/build.h"
#include "tests/support/error_of.h"

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

// The only result of `op` on tensors of rank 1.
RefTensor run(const OpDef& op, const std::vector<RefTensor>& inputs, AttrMap attrs = {},
              std::vector<TensorType> declared = {}) {
  Block block;
  GraphBuilder b;
  b.at_end(block);
  Values operands;
  for (const RefTensor& input : inputs) operands.push_back(block.add_argument(input.type));
  const Op* made = b.create(op, operands, std::move(attrs), std::move(declared));
  return evaluate(*made, inputs)[0];
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

void expect_unary(const OpDef& op, DType dtype, const std::vector<double>& x, const std::vector<double>& y) {
  SCOPED_TRACE(std::string(op.name) + " " + to_string(dtype));
  expect_values(run(op, {tensor(dtype, x)}), y);
}

void expect_binary(const OpDef& op, DType dtype, const std::vector<double>& x, const std::vector<double>& y,
                   const std::vector<double>& z) {
  SCOPED_TRACE(std::string(op.name) + " " + to_string(dtype));
  expect_values(run(op, {tensor(dtype, x), tensor(dtype, y)}), z);
}

void expect_convert(DType from, DType to, const std::vector<double>& x, const std::vector<double>& y) {
  SCOPED_TRACE(to_string(from) + " to " + to_string(to));
  const RefTensor input = tensor(from, x);
  expect_values(run(kConvert, {input}, {}, {{to, input.type.shape}}), y);
}

TEST(Elementwise, MaximumAndMinimumPropagateNaNAndOrderZeros) {
  expect_binary(kMaximum, DType::kF32, {1, kNaN, 1, -0.0, 0}, {2, 1, kNaN, 0, -0.0}, {2, kNaN, kNaN, 0, 0});
  expect_binary(kMinimum, DType::kF32, {1, kNaN, 1, -0.0, 0}, {2, 1, kNaN, 0, -0.0}, {1, kNaN, kNaN, -0.0, -0.0});
}

TEST(Elementwise, IntegersWrap) {
  expect_binary(kAdd, DType::kI8, {127, -128}, {1, -1}, {-128, 127});
  expect_binary(kAdd, DType::kUI8, {255}, {1}, {0});
  expect_binary(kMultiply, DType::kI4, {7}, {3}, {5});
  expect_unary(kNegate, DType::kI8, {-128, 5}, {-128, -5});
  expect_unary(kAbs, DType::kI8, {-128, -5}, {-128, 5});
  expect_binary(kPower, DType::kI8, {2, 3, -1, -1, 5, 1, 0}, {7, 2, -3, -2, -1, -9, 0}, {-128, 9, -1, 1, 0, 1, 1});
}

TEST(Elementwise, TruthValuesAddAsOrAndMultiplyAsAnd) {
  expect_binary(kAdd, DType::kI1, {0, 1, 1}, {0, 0, 1}, {0, 1, 1});
  expect_binary(kMultiply, DType::kI1, {0, 1, 1}, {0, 0, 1}, {0, 0, 1});
  expect_unary(kNot, DType::kI1, {0, 1}, {1, 0});
  expect_unary(kNot, DType::kUI8, {0, 5}, {255, 250});
}

TEST(Elementwise, DivisionByZeroAndOfTheLeastIntegerIsDefined) {
  expect_binary(kDivide, DType::kI32, {7, -7, 5, -2147483648.0}, {-2, 2, 0, -1}, {-3, -3, -1, -2147483648.0});
  expect_binary(kRemainder, DType::kI32, {7, -7, 5, -2147483648.0}, {-2, 2, 0, -1}, {1, -1, 5, 0});
  expect_binary(kDivide, DType::kUI8, {200, 5}, {3, 0}, {66, 255});
  expect_binary(kRemainder, DType::kF32, {5, -5, 5.5, 1}, {3, 3, -2, 0}, {2, -2, 1.5, kNaN});
}

TEST(Elementwise, ShiftsBeyondTheWidthGiveZeroOrTheSign) {
  expect_binary(kShiftLeft, DType::kI8, {1, 1, 1, 1}, {6, 7, 8, -1}, {64, -128, 0, 0});
  expect_binary(kShiftRightLogical, DType::kI8, {-1, -1, -1}, {1, 8, -1}, {127, 0, 0});
  expect_binary(kShiftRightArithmetic, DType::kI8, {-2, -2, 100, -2}, {1, 8, 8, -1}, {-1, -1, 0, -1});
  expect_binary(kShiftRightArithmetic, DType::kUI8, {128}, {1}, {192});
  expect_unary(kPopcnt, DType::kI8, {-1, 0, 5}, {8, 0, 2});
  expect_unary(kCountLeadingZeros, DType::kI4, {-1, 0, 1}, {0, 4, 3});
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
  expect_values(run(kConvert, {x}, {}, {{DType::kF32, {1}}}), {0x1p60 + 0x1p37});
}

TEST(Elementwise, RoundingAndSigns) {
  expect_unary(kRoundNearestAfz, DType::kF32, {0.5, -0.5, 2.5, 0.49999997, -0.0}, {1, -1, 3, 0, -0.0});
  expect_unary(kRoundNearestEven, DType::kF32, {0.5, -0.5, 2.5, 3.5}, {0, -0.0, 2, 4});
  expect_unary(kSign, DType::kF32, {-3, -0.0, 0, 2, kNaN}, {-1, -0.0, 0, 1, kNaN});
}

TEST(Elementwise, ComparisonsWithNaNAndInTotalOrder) {
  const RefTensor x = tensor(DType::kF32, {1, kNaN, -0.0}), y = tensor(DType::kF32, {1, 1, 0});
  const auto compare = [&](const char* direction, const char* type) {
    return run(kCompare, {x, y},
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
  expect_values(run(kReducePrecision, {x}, {{"exponent_bits", IntAttr{5}}, {"mantissa_bits", IntAttr{10}}}),
                {1.0009765625, 1, kInfinity, 65504, 0, -0.0, kInfinity});
}

// Computed with 40 digits by mpmath.
struct ExactValue {
  std::string_view name;
  double x, y;
  double value;
};

constexpr ExactValue kExactValues[] = {
    {"erf_inv", 1e-10, 0, 8.86226925452758046e-11},
    {"erf_inv", 0.3, 0, 0.272462714726754345},
    {"erf_inv", -0.9, 0, -1.16308715367667416},
    {"erf_inv", 0.999999, 0, 3.45891073727549878},
    {"lgamma", 1e-05, 0, 11.5129196928958256},
    {"lgamma", 0.5, 0, 0.572364942924700087},
    {"lgamma", 1.25, 0, -0.0982718364218131615},
    {"lgamma", 1.99, 0, -0.0041955290887916687},
    {"lgamma", 4.5, 0, 2.45373657084244222},
    {"lgamma", 30.5, 0, 72.9534711841694083},
    {"lgamma", -1.5, 0, 0.860047015376481015},
    {"lgamma", -20.25, 0, -41.6009619153405243},
    {"digamma", 1e-05, 0, -100000.577199215673},
    {"digamma", 0.5, 0, -1.96351002602142348},
    {"digamma", 1.4616321449683622, 0, -9.24126552172942752e-17},
    {"digamma", 1.5, 0, 0.0364899739785765206},
    {"digamma", 7.25, 0, 1.91045352688373603},
    {"digamma", 1000000, 0, 13.8155100579641908},
    {"digamma", -0.5, 0, 0.0364899739785765206},
    {"digamma", -3.75, 0, -1.69238859831133034},
    {"zeta", 1.0001, 2.5, 9999.29686710748707},
    {"zeta", 2, 1, 1.64493406684822644},
    {"zeta", 3.5, 0.125, 1448.92244547569142},
    {"zeta", 9, 40.5, 1.90377950694043501e-14},
    {"zeta", 2, -2.5, 9.53924664498912375},
    {"zeta", 3, -7.25, -62.0042630182828669},
    {"polygamma", 1, 0.5, 4.93480220054467931},
    {"polygamma", 3, 7.5, 0.00577243665657869371},
    {"polygamma", 20, 2.25, -97832855220.4354826},
    {"bessel_i1e", 1e-08, 0, 4.99999995000000042e-9},
    {"bessel_i1e", 0.5, 0, 0.156420803184871697},
    {"bessel_i1e", -7.75, 0, -0.136051100080339109},
    {"bessel_i1e", 8.25, 0, 0.132310173965001423},
    {"bessel_i1e", 39.5, 0, 0.0628687872925569389},
    {"bessel_i1e", 1000, 0, 0.0126109302569286295},
};

double special(const ExactValue& row) {
  if (row.name == "erf_inv") return erf_inv(row.x);
  if (row.name == "lgamma") return ingot::lgamma(row.x);
  if (row.name == "digamma") return digamma(row.x);
  if (row.name == "bessel_i1e") return bessel_i1e(row.x);
  return row.name == "zeta" ? zeta(row.x, row.y) : polygamma(row.x, row.y);
}

TEST(Elementwise, SpecialFunctionsAreExact) {
  for (const ExactValue& row : kExactValues) {
    EXPECT_NEAR(special(row) / row.value, 1, 1e-15) << row.name << " of " << row.x << ", " << row.y;
  }
}

TEST(Elementwise, SpecialFunctionsHavePoles) {
  expect_unary(kErfInv, DType::kF64, {1, -1, 1.5}, {kInfinity, -kInfinity, kNaN});
  expect_unary(kLgamma, DType::kF64, {0, -1, -kInfinity}, {kInfinity, kInfinity, kInfinity});
  expect_unary(kDigamma, DType::kF64, {0, -2, -kInfinity, kInfinity}, {kNaN, kNaN, kNaN, kInfinity});
  expect_binary(kZeta, DType::kF64, {1, 0.5, 2, 3, 2.5}, {2, 2, -1, -1, -1.5},
                {kInfinity, kNaN, kInfinity, kNaN, kNaN});
  expect_binary(kPolygamma, DType::kF64, {-1, 0.5}, {2, 2}, {kNaN, kNaN});
}

TEST(Elementwise, NextAfterStepsByOneNumber) {
  expect_binary(kNextAfter, DType::kBF16, {1, 1, 0, -0.0, -1, 2, kNaN}, {2, 0, 1, -1, 0, 2, 1},
                {1.0078125, 0.99609375, 0x1p-133, -0x1p-133, -0.99609375, 2, kNaN});
}

TEST(Elementwise, MistakesAreErrorsThatNameTheTypes) {
  const auto message = [](const OpDef& op, const std::vector<RefTensor>& inputs) {
    return error_of([&] { run(op, inputs); });
  };
  EXPECT_EQ(message(kTanh, {tensor(DType::kI32, {1})}),
            "error: stablehlo.tanh: is not defined for tensor<1xi32>; it takes floats, complex numbers");
  EXPECT_EQ(message(kAdd, {tensor(DType::kI32, {1}), tensor(DType::kI32, {1, 2})}),
            "error: stablehlo.add: operands must have one type, but operand 0 is tensor<1xi32> and operand 1 is "
            "tensor<2xi32>");
  EXPECT_EQ(message(kAdd, {tensor(DType::kI32, {1})}), "error: stablehlo.add: takes 2 operands, has 1");
}

}  // namespace
}  // namespace ingot
