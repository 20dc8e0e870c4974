// Codes of 8 bits: what they keep of values.
#include "aot/optim/block_codes.h"

#include <gtest/gtest.h>
#include <ingot/lazy.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace ingot {
namespace {

using optim::CodeFormat;
using optim::kMeanCodes;
using optim::kSquareCodes;

constexpr int64_t kCodesBlock = 64;  // elements

std::vector<float> drawn_for_codes(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  std::ranges::generate(values, [&] { return normal(random); });
  return values;
}

// Encodes and decodes blocks of values at a step.
struct Recoded {
  std::vector<uint8_t> codes;
  std::vector<float> values;

  Recoded(lazy::Device& device, const std::vector<float>& given, const CodeFormat& format, int64_t step) {
    const Tensor x = device.tensor(f32[{std::ssize(given) / kCodesBlock, kCodesBlock}], given);
    const optim::Coded coded = optim::encode(x, format, device.tensor(i64[{}], {step}));
    const Tensor decoded = optim::decode(coded, format);
    codes = coded.codes.to_vector<uint8_t>();
    values = decoded.to_vector<float>();
  }
};

// Blocks of values from 1 down to 2^-40 of the greatest, of both signs where a format has them.
std::vector<float> spread(const CodeFormat& format, int64_t blocks) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> exponent(-40, 0);
  std::vector<float> values(blocks * kCodesBlock);
  for (int64_t i = 0; i < std::ssize(values); ++i) {
    const float size = i % kCodesBlock == 0 ? 1 : std::exp2(exponent(random));
    values[i] =
        std::ldexp(format.is_signed && random() % 2 ? -size : size, static_cast<int>(i / kCodesBlock % 60) - 30);
  }
  return values;
}

class BlockCodes : public testing::TestWithParam<CodeFormat> {};
INSTANTIATE_TEST_SUITE_P(OfMoments, BlockCodes, testing::Values(kMeanCodes, kSquareCodes),
                         [](const auto& of) { return of.param.is_signed ? "Mean" : "Square"; });

TEST_P(BlockCodes, AreOffByAnEighthAtMost) {
  lazy::Device device;
  const std::vector<float> given = spread(GetParam(), 60);
  for (int64_t step : {1, 2, 1000, 123456789}) {
    const Recoded recoded(device, given, GetParam(), step);
    for (int64_t i = 0; i < std::ssize(given); ++i) {
      const float scale = std::abs(given[i - i % kCodesBlock]);
      EXPECT_LE(std::abs(recoded.values[i] - given[i]), (std::abs(given[i]) + GetParam().offset * scale) / 8)
          << given[i] << " of " << scale << " at step " << step;
    }
  }
}

TEST_P(BlockCodes, OfNothingAreNothing) {
  lazy::Device device;
  std::vector<float> given(2 * kCodesBlock, 0);
  given[kCodesBlock] = 3;
  for (int64_t step = 0; step < 100; ++step) {
    const Recoded recoded(device, given, GetParam(), step);
    EXPECT_EQ(std::ranges::count(recoded.values, 0.0F), 2 * kCodesBlock - 1) << step;
    EXPECT_EQ(std::ranges::count(recoded.codes, 0), 2 * kCodesBlock - 1) << step;
  }
}

TEST_P(BlockCodes, AreInTheOrderOfValues) {
  lazy::Device device;
  std::vector<float> given(kCodesBlock, 1);
  int last = 0;
  for (float value = 0; value <= 1; value = value == 0 ? 0x1p-40F : value * 1.05F) {
    given[7] = value;
    const int code = Recoded(device, given, GetParam(), 5).codes[7];
    EXPECT_GE(code, last) << value;
    last = code;
  }
  EXPECT_GE(last, GetParam().is_signed ? 119 : 247);
}

TEST_P(BlockCodes, AreRightInTheMeanOverSteps) {
  constexpr int kSteps = 2000;
  lazy::Device device;
  std::vector<float> given = drawn_for_codes(2 * kCodesBlock, 3);
  if (!GetParam().is_signed) {
    for (float& value : given) value *= value;
  }
  std::vector<double> sums(given.size(), 0);
  for (int64_t step = 1; step <= kSteps; ++step) {
    const Recoded recoded(device, given, GetParam(), step);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += recoded.values[i];
  }
  for (size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR(sums[i] / kSteps, given[i], 0.001 * std::abs(given[i]));
}

TEST(BlockCodes, OfSquaresAreNothingOnlyWhereTheseAre) {
  lazy::Device device;
  std::vector<float> given(kCodesBlock, 0x1p-140F);  // denormal, and far below the scale
  given[0] = 1;
  given[1] = 0;
  for (int64_t step = 0; step < 20; ++step) {
    const Recoded recoded(device, given, kSquareCodes, step);
    EXPECT_EQ(recoded.codes[1], 0);
    EXPECT_EQ(std::ranges::count(recoded.codes, 0), 1);
    EXPECT_EQ(std::ranges::count(recoded.values, 0.0F), 1);
  }
}

// The same numbers are in aot/frontend/python/tests/test_adam_8bit.py.
TEST(BlockCodes, AreThoseOfPython) {
  lazy::Device device;
  std::vector<float> means(kCodesBlock), squares(kCodesBlock);
  for (int i = 0; i < kCodesBlock; ++i) {
    means[i] = static_cast<float>(i * 37 % 101 - 50) / 64;
    squares[i] = means[i] * means[i];
  }
  const auto first = [](std::vector<uint8_t> codes) { return codes.resize(16), codes; };
  EXPECT_EQ(first(Recoded(device, means, kMeanCodes, 3).codes),
            (std::vector<uint8_t>{248, 232, 112, 244, 215, 115, 241, 97, 118, 237, 107, 247, 229, 112, 244, 0}));
  EXPECT_EQ(first(Recoded(device, squares, kSquareCodes, 3).codes),
            (std::vector<uint8_t>{248, 217, 230, 242, 182, 239, 236, 202, 245, 226, 223, 247, 210, 234, 240, 0}));
}

TEST(BlockCodes, AreOfTensorsOfManyElementsThatBlocksDivide) {
  const auto block = [](std::initializer_list<int64_t> shape, DType dtype = DType::kF32) {
    return optim::block_elements({dtype, shape});
  };
  EXPECT_EQ(block({64, 64}), 256);
  EXPECT_EQ(block({4095}), 0);
  EXPECT_EQ(block({100, 100}), 250);
  EXPECT_EQ(block({4099}), 0);  // a prime
  EXPECT_EQ(block({2, 61, 61}), 122);
  EXPECT_EQ(block({13, 331}), 0);
  EXPECT_EQ(block({64, 64}, DType::kF64), 0);
  EXPECT_EQ(block({64, 64}, DType::kBF16), 256);
}

}  // namespace
}  // namespace ingot
