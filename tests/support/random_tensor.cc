#include "tests/support/random_tensor.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ingot {
namespace {

// Of the dtype at this magnitude, for normal numbers.
double ulp_at(DType dtype, double magnitude) {
  const int mantissa_bits = dtype == DType::kF64 ? 52 : dtype == DType::kF32 ? 23 : dtype == DType::kF16 ? 10 : 7;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  return std::ldexp(1.0, exponent - 1 - mantissa_bits);
}

bool agree(DType dtype, double a, double b, const Tolerance& tolerance) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  if (!std::isfinite(a) || !std::isfinite(b)) return false;
  const double difference = std::fabs(a - b);
  return difference <= tolerance.absolute ||
         difference <= tolerance.ulp * ulp_at(dtype, std::max(std::fabs(a), std::fabs(b)));
}

}  // namespace

uint64_t Random::bits() {
  state_ ^= state_ >> 12;
  state_ ^= state_ << 25;
  state_ ^= state_ >> 27;
  return state_ * 0x2545f4914f6cdd1d;
}

RefTensor random_tensor(const TensorType& type, Random& random) {
  RefTensor tensor(type);
  for (double& x : tensor.f) x = random.uniform() * 4 - 2;
  for (int64_t& x : tensor.i) {
    x = is_bool(type.dtype) ? random.below(2) : random.below(17) - (is_unsigned(type.dtype) ? 0 : 8);
    x = wrap_to(type.dtype, x);
  }
  round_in_place(tensor);
  return tensor;
}

RefTensor random_tensor(const TensorType& type, uint64_t seed, double low, double high) {
  Random random(seed);
  RefTensor tensor(type);
  for (double& x : tensor.f) x = round_to(type.dtype, low + (high - low) * random.uniform());
  for (int64_t& x : tensor.i) x = static_cast<int64_t>(low + (high - low) * random.uniform());
  return tensor;
}

std::vector<RefTensor> random_arguments(const Function& function, uint64_t seed) {
  Random random(seed);
  std::vector<RefTensor> arguments;
  for (const auto& argument : function.body.arguments) arguments.push_back(random_tensor(argument->type, random));
  return arguments;
}

void expect_equal(const std::vector<RefTensor>& actual, const std::vector<RefTensor>& expected,
                  const Tolerance& tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t r = 0; r < actual.size(); ++r) {
    ASSERT_EQ(actual[r].type, expected[r].type) << "result " << r;
    ASSERT_EQ(actual[r].i, expected[r].i) << "result " << r;
    for (size_t i = 0; i < actual[r].f.size(); ++i) {
      ASSERT_TRUE(agree(actual[r].type.dtype, actual[r].f[i], expected[r].f[i], tolerance))
          << "result " << r << ", element " << i << ": " << actual[r].f[i] << " is not " << expected[r].f[i];
    }
  }
}

}  // namespace ingot
