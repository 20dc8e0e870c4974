// Elementary functions as machine code against long double: special values, edges and many random ones. Prints the
// worst error of each in units in the last place. INGOT_MATH_SAMPLES=10000000 (of each) is the nightly size, and
// INGOT_MATH_ONLY=sin takes one function.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>

#include "aot/base/special_functions.h"
#include "aot/codegen/compile.h"
#include "aot/codegen/execute.h"
#include "aot/loops/builder.h"
#include "aot/loops/expand_math.h"
#include "aot/loops/math/functions.h"
#include "tests/support/kernel_agreement.h"

namespace ingot::loops {
namespace {

using Real = long double;

Real logistic(Real x) {
  const Real z = std::exp(-std::abs(x));
  return (x < 0 ? z : 1) / (1 + z);
}

// What long double has not: f64 results, right to half a unit in the last place, which bounds for f64 must allow for.
template <double (*f)(double)>
Real unary(Real x, Real) {
  return f(static_cast<double>(x));
}

Real hurwitz(Real s, Real q) { return zeta(static_cast<double>(s), static_cast<double>(q)); }

// Of reflections at negative arguments.
Real gamma_terms(Real x, Real) { return x < 0 ? std::max(1.0L, std::log(-x)) : 0; }

Real one(Real, Real) { return 1; }

Real zeta_terms(Real s, Real q) {
  const Real f = -q - std::floor(-q);
  return q < 0 ? hurwitz(s, f) + hurwitz(s, 1 - f) : 0;
}

struct Row {
  ScalarOp op;
  Real (*reference)(Real, Real);
  double low, high;             // where most of the action is
  double f32_bound, f64_bound;  // in units in the last place
  // How large the terms are that may cancel: errors are judged by them where the result is smaller.
  Real (*terms)(Real, Real) = nullptr;
};

const Row kRows[] = {
    {ScalarOp::kExp, [](Real x, Real) { return std::exp(x); }, -110, 110, 1.5, 1.5},
    {ScalarOp::kExpm1, [](Real x, Real) { return std::expm1(x); }, -5, 5, 1.5, 1.5},
    {ScalarOp::kLog, [](Real x, Real) { return std::log(x); }, 0, 5, 1, 1},
    {ScalarOp::kLog1p, [](Real x, Real) { return std::log1p(x); }, -1, 3, 1, 1},
    {ScalarOp::kLogistic, [](Real x, Real) { return logistic(x); }, -110, 30, 2, 2},
    {ScalarOp::kTanh, [](Real x, Real) { return std::tanh(x); }, -4, 4, 2, 2},
    {ScalarOp::kSin, [](Real x, Real) { return std::sin(x); }, -30, 30, 2, 1},
    {ScalarOp::kCos, [](Real x, Real) { return std::cos(x); }, -30, 30, 2, 1},
    {ScalarOp::kTan, [](Real x, Real) { return std::tan(x); }, -30, 30, 1, 2},
    {ScalarOp::kAtan2, [](Real y, Real x) { return std::atan2(y, x); }, -3, 3, 2, 2},
    {ScalarOp::kPower, [](Real x, Real y) { return std::pow(x, y); }, -30, 30, 1, 1.5},
    {ScalarOp::kRsqrt, [](Real x, Real) { return 1 / std::sqrt(x); }, 0, 5, 1.5, 1.5},
    {ScalarOp::kCbrt, [](Real x, Real) { return std::cbrt(x); }, -30, 30, 1, 1},
    {ScalarOp::kErf, [](Real x, Real) { return std::erf(x); }, -4, 4, 1.5, 1.5},
    {ScalarOp::kErfPlusOne, [](Real x, Real) { return std::erfc(-x); }, -4, 4, 1.5, 1.5, one},
    {ScalarOp::kErfc, [](Real x, Real) { return std::erfc(x); }, -4, 27, 1.5, 2},
    {ScalarOp::kErfInv, unary<erf_inv>, -1, 1, 2, 2.5},
    {ScalarOp::kAsin, [](Real x, Real) { return std::asin(x); }, -1, 1, 2, 2},
    {ScalarOp::kAcos, [](Real x, Real) { return std::acos(x); }, -1, 1, 2, 2},
    {ScalarOp::kAtan, [](Real x, Real) { return std::atan(x); }, -5, 5, 2, 2},
    {ScalarOp::kSinh, [](Real x, Real) { return std::sinh(x); }, -100, 100, 9, 2},
    {ScalarOp::kCosh, [](Real x, Real) { return std::cosh(x); }, -100, 100, 9, 2},
    {ScalarOp::kAsinh, [](Real x, Real) { return std::asinh(x); }, -5, 5, 2, 2},
    {ScalarOp::kAcosh, [](Real x, Real) { return std::acosh(x); }, 1, 5, 2, 2},
    {ScalarOp::kAtanh, [](Real x, Real) { return std::atanh(x); }, -1, 1, 2, 2},
    {ScalarOp::kLgamma, unary<ingot::lgamma>, 0, 20, 1, 6, gamma_terms},
    {ScalarOp::kDigamma, unary<digamma>, 0, 20, 1, 5, gamma_terms},
    {ScalarOp::kZeta, hurwitz, 1, 20, 1, 6, zeta_terms},
    {ScalarOp::kBesselI1e, unary<bessel_i1e>, -20, 20, 1, 5},
};

// A row without an error bound would be a promise that nothing holds.
TEST(Math, EveryFunctionIsMeasured) {
  constexpr ScalarOp kFunctions[] = {
#define MATH_OP(enumerator, name, arity, meaning) ScalarOp::enumerator,
#include "aot/loops/scalar_ops.def"
  };
  for (const ScalarOp function : kFunctions) {
    EXPECT_EQ(std::ranges::count(kRows, function, &Row::op), 1) << info(function).text << " needs a row in kRows";
  }
}

// y[i] = f(x[i]), of primitive operations.
std::string expanded(const std::function<Expr(KernelBuilder&, Expr)>& f) {
  constexpr int kLanes = 8;
  KernelBuilder b("f", kLanes);
  const BufferId x = b.input("x", DType::kF32, kLanes), y = b.output("y", DType::kF32, kLanes);
  b.store(y, b.lane(), f(b, b.load(x, b.lane())));
  Kernel kernel = b.finish();
  expand_math(kernel);
  return print(kernel);
}

TEST(Math, ASumOfErfAndOneIsOneFunction) {
  const auto erf = [](KernelBuilder& b, Expr x) { return b.apply(ScalarOp::kErf, {x}); };
  const auto one = [](KernelBuilder& b) { return b.constant(DType::kF32, 1); };
  const std::string expected = expanded([](KernelBuilder& b, Expr x) { return b.apply(ScalarOp::kErfPlusOne, {x}); });
  EXPECT_EQ(expanded([&](KernelBuilder& b, Expr x) { return b.apply(ScalarOp::kAdd, {erf(b, x), one(b)}); }), expected);
  EXPECT_EQ(expanded([&](KernelBuilder& b, Expr x) { return b.apply(ScalarOp::kAdd, {one(b), erf(b, x)}); }), expected);
  EXPECT_NE(expanded([&](KernelBuilder& b, Expr x) { return b.apply(ScalarOp::kAdd, {erf(b, x), x}); }), expected);
}

constexpr int64_t kBatch = 1 << 16;

template <typename T>
struct alignas(INGOT_BUFFER_ALIGNMENT_BYTES) Batch {
  T values[kBatch];
};

// z[i] = op(x[i], y[i]) for a batch.
Kernel kernel_of(ScalarOp op, DType dtype, int lanes) {
  KernelBuilder b(std::string(info(op).text) + "_" + to_string(dtype), lanes);
  const BufferId x = b.input("x", dtype, kBatch), y = b.input("y", dtype, kBatch), z = b.output("z", dtype, kBatch);
  b.loop("i", 0, kBatch, lanes, [&](const Index& i) {
    std::vector<Expr> args = {b.load(x, i + b.lane())};
    if (info(op).arity == 2) args.push_back(b.load(y, i + b.lane()));
    b.store(z, i + b.lane(), b.apply(op, args));
  });
  return b.finish();
}

// A batch of one of the two operands; the first batch begins with every pair of edges.
template <typename T>
void draw(const Row& row, bool is_first_batch, bool is_second_operand, std::mt19937_64& random, Batch<T>& batch) {
  using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  using Limits = std::numeric_limits<T>;
  const std::vector<T> magnitudes = {0,
                                     1,
                                     2,
                                     T(0.5),
                                     T(0.25),
                                     T(1.5),
                                     3,
                                     8,
                                     10,
                                     170,
                                     T(88.72),
                                     T(88.73),
                                     T(89.41),
                                     T(103.9),
                                     T(104.1),
                                     T(709.7),
                                     T(710.4),
                                     T(745),
                                     T(746),
                                     T(0.9999999),
                                     T(1.0000001),
                                     T(0.84375),
                                     T(0.921875),
                                     T(1.4616321449683623),
                                     T(1e22),
                                     T(0x1p16),
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
                                     Limits::max() / 2,
                                     T(6381956970095103.)};
  int64_t next = 0;
  if (is_first_batch) {
    std::vector<T> edges = magnitudes;
    for (const T value : magnitudes) edges.push_back(-value);
    for (const T x : edges) {
      for (const T y : edges) batch.values[next++] = is_second_operand ? y : x;
    }
  }
  std::uniform_real_distribution<double> uniform(row.low, row.high);
  for (; next < kBatch; ++next) {
    batch.values[next] = next % 2 ? std::bit_cast<T>(static_cast<Word>(random())) : static_cast<T>(uniform(random));
  }
}

template <typename T>
double ulp_error(T actual, Real expected, Real terms) {
  if (std::isnan(expected)) return std::isnan(actual) ? 0 : INFINITY;
  const T rounded = static_cast<T>(expected);
  if (std::isinf(rounded) || std::isinf(actual) || std::isnan(actual)) return actual == rounded ? 0 : INFINITY;
  const Real magnitude = std::max(std::abs(expected), std::isfinite(terms) ? terms : 0);
  const int exponent = std::max(std::ilogb(magnitude), std::numeric_limits<T>::min_exponent - 1);
  const Real unit = std::ldexp(1.0L, exponent - (std::numeric_limits<T>::digits - 1));
  return static_cast<double>(std::abs(actual - expected) / unit);
}

template <typename T>
void check(const codegen::Executable& code, int kernel, const Row& row, double bound) {
  const char* wanted = std::getenv("INGOT_MATH_SAMPLES");
  const int64_t count = wanted ? std::atoll(wanted) : kBatch;
  double worst = 0;
  T worst_x = 0, worst_y = 0, worst_actual = 0;
  std::mt19937_64 random(1);
  const auto x = std::make_unique<Batch<T>>(), y = std::make_unique<Batch<T>>(), z = std::make_unique<Batch<T>>();
  std::byte* const buffers[] = {(std::byte*)x.get(), (std::byte*)y.get(), (std::byte*)z.get()};
  for (int64_t done = 0; done < count; done += kBatch) {
    draw(row, done == 0, false, random, *x);
    draw(row, done == 0, true, random, *y);
    code.run(kernel, buffers, 0);
    for (int64_t k = 0; k < kBatch; ++k) {
      const T argument = x->values[k], second = y->values[k], actual = z->values[k];
      const Real expected = row.reference(argument, second);
      const double error = ulp_error(actual, expected, row.terms ? row.terms(argument, second) : 0);
      if (actual == 0 && expected == 0) {
        EXPECT_EQ(std::signbit(actual), std::signbit(expected))
            << info(row.op).text << ": the sign at " << argument << ", " << second;
      }
      if (error <= worst) continue;
      worst = error;
      worst_x = argument;
      worst_y = second;
      worst_actual = actual;
    }
  }
  std::printf("  %-10s f%zu  worst %.3f ulp at %a", std::string(info(row.op).text).c_str(), 8 * sizeof(T), worst,
              static_cast<double>(worst_x));
  if (info(row.op).arity == 2) std::printf(", %a", static_cast<double>(worst_y));
  std::printf(" (gives %a)\n", static_cast<double>(worst_actual));
  EXPECT_LE(worst, bound) << info(row.op).text << " f" << 8 * sizeof(T);
}

template <typename T>
void check_all(const Target& target, DType dtype, double Row::* bound) {
  const char* only = std::getenv("INGOT_MATH_ONLY");
  std::vector<const Row*> rows;
  std::vector<Kernel> kernels;
  for (const Row& row : kRows) {
    if (only && info(row.op).text != only) continue;
    rows.push_back(&row);
    kernels.push_back(kernel_of(row.op, dtype, target.lanes(dtype)));
  }
  const codegen::CodeImage image = codegen::compile(kernels, target);
  if (!target.runs_here()) return;
  std::printf("%s\n", std::string(target.name).c_str());
  const codegen::Executable code(image);
  for (size_t k = 0; k < rows.size(); ++k) check<T>(code, static_cast<int>(k), *rows[k], rows[k]->*bound);
}

// What vanishes far out is not computed: where a result is below the least float, some processors take a hundred times as
// long, and attention is full of e^-inf.
TEST(Math, FarOutNothingUnderflows) {
  const Target& target = find_target("host");
  constexpr ScalarOp kSaturating[] = {ScalarOp::kExp, ScalarOp::kExpm1, ScalarOp::kLogistic,  ScalarOp::kTanh,
                                      ScalarOp::kErf, ScalarOp::kErfc,  ScalarOp::kErfPlusOne};
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    std::vector<Kernel> kernels;
    for (const ScalarOp op : kSaturating) kernels.push_back(kernel_of(op, dtype, target.lanes(dtype)));
    const codegen::Executable code(codegen::compile(kernels, target));
    const auto run = [&]<typename T>(T) {
      const auto x = std::make_unique<Batch<T>>(), y = std::make_unique<Batch<T>>();
      std::byte* const buffers[] = {(std::byte*)x.get(), nullptr, (std::byte*)y.get()};
      for (const T far : {T(1e3), T(1e9), std::numeric_limits<T>::max(), std::numeric_limits<T>::infinity()}) {
        for (int64_t k = 0; k < kBatch; ++k) x->values[k] = k % 2 ? far : -far;
        for (size_t k = 0; k < kernels.size(); ++k) {
          std::feclearexcept(FE_ALL_EXCEPT);
          code.run(static_cast<int>(k), buffers, 0);
          EXPECT_FALSE(std::fetestexcept(FE_UNDERFLOW))
              << info(kSaturating[k]).text << " " << to_string(dtype) << " " << far;
        }
      }
    };
    dtype == DType::kF32 ? run(float{}) : run(double{});
  }
}

// Numbers from 1 to 2, times powers of two from below the least denormal on.
Kernel scale_kernel(DType dtype, int lanes) {
  constexpr int64_t kElements = 256;
  const math::Layout& layout = math::layout_of(dtype);
  const DType integer = signed_of(dtype);
  KernelBuilder b("scale_" + to_string(dtype), lanes);
  const BufferId mantissas = b.input("mantissas", integer, kElements), powers = b.input("powers", integer, kElements);
  const BufferId result = b.output("result", dtype, kElements);
  b.loop("i", 0, kElements, lanes, [&](Index i) {
    const Scalar mantissa(b, b.load(mantissas, i + b.lane())), power(b, b.load(powers, i + b.lane()));
    const Scalar one = mantissa.like(layout.bias) << layout.mantissa_bits;
    const Scalar x = ((mantissa & mantissa.bits((uint64_t{1} << layout.mantissa_bits) - 1)) | one).bitcast(dtype);
    const Scalar n = (power & 2 * layout.bias + 1) - (layout.bias + layout.mantissa_bits + 2);
    b.store(result, i + b.lane(), math::scale(x, n));
  });
  return b.finish();
}

TEST(Math, ScaleRoundsOnce) {
  std::vector<Kernel> kernels;
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const int lanes : {1, 2, 4, 8, 16, 32}) kernels.push_back(scale_kernel(dtype, lanes));
  }
  codegen::expect_same(kernels, 10);
}

// Compiled for every target, measured on those that run here.
TEST(Math, StaysWithinItsBoundInF32) {
  for (const Target& target : all_targets()) check_all<float>(target, DType::kF32, &Row::f32_bound);
}

TEST(Math, StaysWithinItsBoundInF64) {
  for (const Target& target : all_targets()) check_all<double>(target, DType::kF64, &Row::f64_bound);
}

}  // namespace
}  // namespace ingot::loops
