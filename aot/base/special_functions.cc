#include "aot/base/special_functions.h"

#include <cmath>
#include <iterator>
#include <numbers>

namespace ingot {
namespace {

using Real = long double;

constexpr Real kPi = std::numbers::pi_v<Real>;

// Bernoulli's numbers B2, B4, ...
constexpr Real kBernoulli[] = {1.L / 6,       -1.L / 30, 1.L / 42,      -1.L / 30,     5.L / 66,
                               -691.L / 2730, 7.L / 6,   -3617.L / 510, 43867.L / 798, -174611.L / 330};
// From here on the asymptotic series with those numbers are exact enough.
constexpr int kFar = 20;

bool is_whole(Real x) { return std::floor(x) == x; }

// Of digamma: the positive zero, in two parts of 53 and 64 bits, and the Taylor coefficients from the first power on
// around it.
constexpr Real kRoot = 0x1.762d86356be3fp+0L;
constexpr Real kRootLow = 9.54999542996569771518e-17L;
constexpr Real kAroundRoot[] = {0.967672245447621170427L,    -0.442763168983592106093L,   0.258499760955651010624L,
                                -0.163942705442406527504L,   0.107824050691262365757L,    -0.0721995612564547109261L,
                                0.0488042881641431072251L,   -0.0331611264748473592923L,  0.0225976482322181046596L,
                                -0.0154247659049489591388L,  0.0105387916166121753881L,   -0.00720453438635686824097L,
                                0.00492678139572985344635L,  -0.00336980165543932808279L, 0.00230512632673492783694L,
                                -0.00157693677143019725927L, 0.00107882520191629658069L};

Real digamma_of_positive(Real x) {
  const Real from_root = (x - kRoot) - kRootLow;
  if (std::fabs(from_root) < 0.1L) {
    Real sum = 0;
    for (int k = static_cast<int>(std::size(kAroundRoot)); k-- > 0;) sum = sum * from_root + kAroundRoot[k];
    return sum * from_root;
  }
  Real below = 0;
  for (; x < kFar; ++x) below += 1 / x;
  Real sum = std::log(x) - 1 / (2 * x);
  Real power = 1;
  for (int k = 0; k < static_cast<int>(std::size(kBernoulli)); ++k) {
    power /= x * x;
    sum -= kBernoulli[k] / (2 * (k + 1)) * power;
  }
  return sum - below;
}

// Euler and Maclaurin, for s > 1 and q > 0.
Real zeta_of_positive(Real s, Real q) {
  Real sum = 0;
  for (int k = 0; k < kFar; ++k) sum += std::pow(q + k, -s);
  const Real a = q + kFar;
  const Real power = std::pow(a, -s);
  if (!(power > 0)) return sum;
  sum += power * a / (s - 1) + power / 2;
  Real factor = power * s / (2 * a);  // of B2j: s (s + 1) ... (s + 2j - 2) / (2j)! a^(1 - s - 2j)
  for (int j = 1; j <= static_cast<int>(std::size(kBernoulli)); ++j) {
    sum += kBernoulli[j - 1] * factor;
    factor *= (s + 2 * j - 1) * (s + 2 * j) / ((2 * j + 1) * (2 * j + 2)) / (a * a);
  }
  return sum;
}

}  // namespace

// The root by Halley's method: with f = erf(y) - x, f'' = -2 y f'. From 0.5 upwards f is taken from erfc, where 1 - x
// is exact.
double erf_inv(double x) {
  const Real a = std::fabs(static_cast<Real>(x));
  if (!(a < 1)) return a == 1 ? std::copysign(INFINITY, x) : NAN;
  constexpr Real kSlopeAtZero = 2 * std::numbers::inv_sqrtpi_v<Real>;
  const Real w = -std::log((1 - a) * (1 + a));
  // Winitzki's approximation, good to 0.002.
  const Real half = 2 / (kPi * 0.147L) - w / 2;
  Real y = std::sqrt(std::sqrt(half * half + w / 0.147L) - half);
  if (a < 0x1p-20L) y = a / kSlopeAtZero;
  for (int i = 0; i < 4; ++i) {
    const Real f = a < 0.5L ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const Real step = f / (kSlopeAtZero * std::exp(-y * y));
    y -= step / (1 + y * step);
  }
  return static_cast<double>(std::copysign(y, static_cast<Real>(x)));
}

double lgamma(double x) { return static_cast<double>(std::lgamma(static_cast<Real>(x))); }

double digamma(double x) {
  if (x > 0 || std::isnan(x)) return static_cast<double>(digamma_of_positive(x));
  if (is_whole(x)) return NAN;
  const Real turn = static_cast<Real>(x) - std::round(static_cast<Real>(x));
  return static_cast<double>(digamma_of_positive(1 - static_cast<Real>(x)) - kPi / std::tan(kPi * turn));
}

double zeta(double s, double q) {
  if (std::isnan(s) || std::isnan(q) || s < 1) return NAN;
  if (s == 1) return INFINITY;
  if (q > 0) return static_cast<double>(zeta_of_positive(s, q));
  if (!is_whole(s) || std::isinf(s)) return NAN;
  const bool is_even = std::fmod(s, 2) == 0;
  if (is_whole(q)) return is_even ? INFINITY : NAN;
  // Of the terms with q + k < 0 there are as many as of a zeta from the fraction f of |q| on, less those from |q| + 1.
  const Real f = -static_cast<Real>(q) - std::floor(-static_cast<Real>(q));
  const Real first = zeta_of_positive(s, f), second = zeta_of_positive(s, 1 - f);
  const Real excess = zeta_of_positive(s, 1 - static_cast<Real>(q));
  if (is_even) return static_cast<double>((second + first) - excess);
  if (f == 0.5L) return static_cast<double>(excess);
  const Real nearest = f < 0.5L ? -first : second;  // wins where both are infinite
  return static_cast<double>((std::isinf(nearest) ? nearest : second - first) + excess);
}

double polygamma(double n, double x) {
  if (n == 0) return digamma(x);
  if (!(n > 0) || !is_whole(n)) return NAN;
  const double magnitude = std::tgamma(n + 1) * zeta(n + 1, x);
  return std::fmod(n, 2) == 0 ? -magnitude : magnitude;
}

double bessel_i1e(double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return std::copysign(0.0, x);
  const Real a = std::fabs(static_cast<Real>(x));
  Real sum = 0;
  if (a < 2 * kFar) {
    // (a/2)^(2k + 1) / (k! (k + 1)!), all of one sign.
    Real term = a / 2;
    for (int k = 1; sum + term != sum; ++k) {
      sum += term;
      term *= (a / 2) * (a / 2) / (Real(k) * (k + 1));
    }
    sum *= std::exp(-a);
  } else {
    // Hankel's expansion: each term has the factor -(4 - (2k - 1)^2) / (8 a k) of the one before.
    Real term = 1;
    for (int k = 1; sum + term != sum; ++k) {
      sum += term;
      term *= -(4 - Real(2 * k - 1) * (2 * k - 1)) / (8 * a * k);
    }
    sum /= std::sqrt(2 * kPi * a);
  }
  return static_cast<double>(std::copysign(sum, static_cast<Real>(x)));
}

}  // namespace ingot
