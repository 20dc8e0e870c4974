// Elementary functions in primitive operations against long double: special values, edges and many random ones. Prints
// the worst error of each in units in the last place. INGOT_MATH_SAMPLES=100000000 (of each) is the nightly size.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include "aot/loops/builder.h"
#include "aot/loops/expand_math.h"
#include "aot/loops/interpret.h"

namespace ingot::loops {
namespace {

using Real = long double;

Real logistic(Real x) {
  const Real z = std::exp(-std::abs(x));
  return (x < 0 ? z : 1) / (1 + z);
}

Real erf_inverse(Real x) {
  const Real a = std::abs(x);
  if (!(a < 1)) return a == 1 ? std::copysign(INFINITY, x) : NAN;
  if (a < 1e-10L) return x * std::sqrt(std::acos(-1.0L)) / 2;
  Real low = 0, high = 7;
  for (int i = 0; i < 40; ++i) {
    const Real middle = (low + high) / 2;
    (std::erfc(middle) > 1 - a ? low : high) = middle;
  }
  Real y = (low + high) / 2;
  for (int i = 0; i < 3; ++i) {
    const Real f = a < 0.5L ? std::erf(y) - a : (1 - a) - std::erfc(y);
    y -= f / (2 / std::sqrt(std::acos(-1.0L)) * std::exp(-y * y));
  }
  return std::copysign(y, x);
}

struct Row {
  ScalarOp op;
  Real (*reference)(Real, Real);
  double low, high;             // where most of the action is
  double f32_bound, f64_bound;  // in units in the last place
};

const Row kRows[] = {
    {ScalarOp::kExp, [](Real x, Real) { return std::exp(x); }, -110, 110, 1.5, 1.5},
    {ScalarOp::kExpm1, [](Real x, Real) { return std::expm1(x); }, -5, 5, 1.5, 1.5},
    {ScalarOp::kLog, [](Real x, Real) { return std::log(x); }, 0, 5, 1.5, 1.5},
    {ScalarOp::kLog1p, [](Real x, Real) { return std::log1p(x); }, -1, 3, 1.5, 1.5},
    {ScalarOp::kLogistic, [](Real x, Real) { return logistic(x); }, -110, 30, 3, 3},
    {ScalarOp::kTanh, [](Real x, Real) { return std::tanh(x); }, -4, 4, 2, 2},
    {ScalarOp::kSin, [](Real x, Real) { return std::sin(x); }, -30, 30, 2, 1},
    {ScalarOp::kCos, [](Real x, Real) { return std::cos(x); }, -30, 30, 2, 1},
    {ScalarOp::kTan, [](Real x, Real) { return std::tan(x); }, -30, 30, 1, 3},
    {ScalarOp::kAtan2, [](Real y, Real x) { return std::atan2(y, x); }, -3, 3, 1, 2},
    {ScalarOp::kPower, [](Real x, Real y) { return std::pow(x, y); }, -30, 30, 1, 1.5},
    {ScalarOp::kRsqrt, [](Real x, Real) { return 1 / std::sqrt(x); }, 0, 5, 1.5, 1.5},
    {ScalarOp::kCbrt, [](Real x, Real) { return std::cbrt(x); }, -30, 30, 1, 1},
    {ScalarOp::kErf, [](Real x, Real) { return std::erf(x); }, -4, 4, 1.5, 1.5},
    {ScalarOp::kErfc, [](Real x, Real) { return std::erfc(x); }, -4, 27, 1, 4},
    {ScalarOp::kErfInv, [](Real x, Real) { return erf_inverse(x); }, -1, 1, 1, 6},
};

// z[i] = op(x[i], y[i]), 8 lanes at a time, without mathematics left in it.
Kernel kernel_of(ScalarOp op, DType dtype, int64_t count) {
  KernelBuilder b("math", 8);
  const BufferId x = b.input("x", dtype, count), y = b.input("y", dtype, count), z = b.output("z", dtype, count);
  b.loop("i", 0, count, 8, [&](const Index& i) {
    std::vector<Expr> args = {b.load(x, i + b.lane())};
    if (info(op).arity == 2) args.push_back(b.load(y, i + b.lane()));
    b.store(z, i + b.lane(), b.apply(op, args));
  });
  Kernel kernel = b.finish();
  expand_math(kernel);
  verify(kernel);
  return kernel;
}

template <typename T>
std::vector<T> inputs(const Row& row, int64_t count, uint64_t seed) {
  using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  using Limits = std::numeric_limits<T>;
  std::vector<T> edges = {0,
                          1,
                          2,
                          T(0.5),
                          3,
                          T(88.72),
                          T(88.73),
                          T(103.9),
                          T(104.1),
                          T(709.7),
                          T(745),
                          T(746),
                          T(0.9999999),
                          T(1.0000001),
                          T(0.84375),
                          T(0.921875),
                          T(1e22),
                          T(0x1p31),
                          T(0x1.fffffep30),
                          T(M_PI),
                          T(M_PI_2),
                          T(M_PI_4),
                          T(1e9),
                          T(16367173.),
                          Limits::infinity(),
                          Limits::quiet_NaN(),
                          Limits::min(),
                          Limits::denorm_min(),
                          Limits::max(),
                          Limits::epsilon(),
                          Limits::lowest() / 2,
                          T(6381956970095103.)};
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(row.low, row.high);
  std::vector<T> values;
  for (const T edge : edges) {
    for (const T sign : {1, -1}) {
      // Pairs of edges for binary functions: each repeated, in another order for the second operand.
      for (size_t k = 0; k < edges.size(); ++k) values.push_back(sign * (seed % 2 ? edge : edges[k]));
    }
  }
  while (values.size() % 8 != 0) values.push_back(1);
  for (int64_t k = 0; k < count; ++k) {
    values.push_back(k % 2 ? std::bit_cast<T>(static_cast<Word>(random())) : static_cast<T>(uniform(random)));
  }
  return values;
}

template <typename T>
double ulp_error(T actual, Real expected) {
  if (std::isnan(expected)) return std::isnan(actual) ? 0 : INFINITY;
  const T rounded = static_cast<T>(expected);
  if (std::isinf(rounded) || std::isinf(actual) || std::isnan(actual)) return actual == rounded ? 0 : INFINITY;
  const int exponent = std::max(std::ilogb(expected), std::numeric_limits<T>::min_exponent - 1);
  const Real unit = std::ldexp(1.0L, exponent - (std::numeric_limits<T>::digits - 1));
  return static_cast<double>(std::abs(actual - expected) / unit);
}

template <typename T>
void check(const Row& row, double bound) {
  const char* wanted = std::getenv("INGOT_MATH_SAMPLES");
  const int64_t count = wanted ? std::atoll(wanted) / 8 * 8 : 10000;
  constexpr DType dtype = sizeof(T) == 4 ? DType::kF32 : DType::kF64;
  constexpr int64_t kBatch = 1 << 20;
  double worst = 0;
  T worst_x = 0, worst_y = 0, worst_actual = 0;
  for (int64_t done = 0; done < count; done += kBatch) {
    const std::vector<T> x = inputs<T>(row, std::min(kBatch, count - done), 2 * done + 1);
    const std::vector<T> y = inputs<T>(row, std::min(kBatch, count - done), 2 * done + 2);
    std::vector<T> z(x.size());
    std::byte* buffers[] = {(std::byte*)x.data(), (std::byte*)y.data(), (std::byte*)z.data()};
    interpret_all(kernel_of(row.op, dtype, static_cast<int64_t>(x.size())), buffers);
    for (size_t k = 0; k < x.size(); ++k) {
      const Real expected = row.reference(x[k], y[k]);
      const double error = ulp_error(z[k], expected);
      if (z[k] == 0 && expected == 0) {
        EXPECT_EQ(std::signbit(z[k]), std::signbit(expected))
            << info(row.op).text << ": the sign at " << x[k] << ", " << y[k];
      }
      if (error <= worst) continue;
      worst = error;
      worst_x = x[k];
      worst_y = y[k];
      worst_actual = z[k];
    }
  }
  std::printf("  %-9s %s  worst %.3f ulp at %a", std::string(info(row.op).text).c_str(), to_string(dtype).c_str(),
              worst, static_cast<double>(worst_x));
  if (info(row.op).arity == 2) std::printf(", %a", static_cast<double>(worst_y));
  std::printf(" (gives %a)\n", static_cast<double>(worst_actual));
  EXPECT_LE(worst, bound) << info(row.op).text << " " << to_string(dtype);
}

TEST(Math, StaysWithinItsBoundInF32) {
  for (const Row& row : kRows) check<float>(row, row.f32_bound);
}

TEST(Math, StaysWithinItsBoundInF64) {
  for (const Row& row : kRows) check<double>(row, row.f64_bound);
}

}  // namespace
}  // namespace ingot::loops
