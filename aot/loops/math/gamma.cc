// ln |gamma(x)| and its derivative, in f64.
#include "aot/loops/math/functions.h"

namespace ingot::loops::math {
namespace {

// ln gamma(1 + t) = t A(t) and ln gamma(2 + t) = t B(t) for |t| <= 1/2. Relative errors 2^-53.5 and 2^-55.6.
constexpr double kAroundOne[] = {
    -0x1.2788cfc6fb619p-1, 0x1.a51a6625307d2p-1,  -0x1.9a4d55beab2d5p-2, 0x1.151322ac7dbbep-2,  -0x1.a8b9c17aa6802p-3,
    0x1.5b40cb0fc4855p-3,  -0x1.2703a1dca49d9p-3, 0x1.010b36c523ee9p-3,  -0x1.c806709756039p-4, 0x1.9a01dc292eeadp-4,
    -0x1.748c2beab2e19p-4, 0x1.556b9f1bd3bb4p-4,  -0x1.3b1e5a452e83ep-4, 0x1.24889fbacf506p-4,  -0x1.11055d77f9801p-4,
    0x1.00b36c1e271bp-4,   -0x1.e33d673e67c0fp-5, 0x1.bad978c589529p-5,  -0x1.a33fa4f50c02ep-5, 0x1.e5b198f977938p-5,
    -0x1.cffe0bc18662ep-5, 0x1.5b48e83ba44edp-8,  -0x1.25f238329208dp-8, 0x1.448ab2237ef85p-3,  -0x1.3a2cb924be3dp-3,
    -0x1.62854cae55f9cp-3, 0x1.58c191555bd4ap-3,  0x1.db8d14b984b43p-3,  -0x1.cd15fe0d2180bp-3};
constexpr double kAroundTwo[] = {0x1.b0ee6072093cep-2,   0x1.4a34cc4a60fa6p-2,   -0x1.13e001a557606p-4,
                                 0x1.51322ac7d849bp-6,   -0x1.e404fc218f61fp-8,  0x1.7add6eadb2c11p-9,
                                 -0x1.38ac5c2bf50a2p-10, 0x1.0b36af88b2884p-11,  -0x1.d3fd4c7b8f6a9p-13,
                                 0x1.a127af44aaf71p-14,  -0x1.78de5a3d2d4d3p-15, 0x1.580e260121a51p-16,
                                 -0x1.3cbce9a3c4ad1p-17, 0x1.258c9651dbedcp-18,  -0x1.11a85684e8499p-19,
                                 0x1.01462b5944f7dp-20,  -0x1.e40f95a8192dep-22, 0x1.b1a8c8bf04f15p-23,
                                 -0x1.9a854795e5fe9p-24, 0x1.15fea8732cd9fp-24,  -0x1.091589d02d1a3p-25};

// ln gamma(x) = (x - 1/2) (ln x - 1) + (ln(2 pi) - 1) / 2 + S(1/x^2) / x from 8 on. Error 2^-63.
constexpr double kStirling[] = {0x1.5555555555555p-4,   -0x1.6c16c16c149e6p-9, 0x1.a01a017dc870dp-11,
                                -0x1.38134d496690ap-11, 0x1.b92c316ca8adbp-11, -0x1.ef8d3368b8f5bp-10,
                                0x1.4bfe89b51fcbep-8};
constexpr double kStirlingConstant = 0.41893853320467274178;

// digamma(x) = (x - root) R(x - 3/2) for 1 <= x <= 2. Relative error 2^-54.2.
constexpr double kRoot = 0x1.762d86356be3fp+0, kRootLow = 0x1.b86a722197829p-54;
constexpr double kAroundRoot[] = {
    0x1.e6f0cbb873616p-1,  -0x1.b1cb63005ee98p-2,  0x1.eca189b8e6f6dp-3,  -0x1.2feeeb98a78eap-3,
    0x1.8512e5903903ep-4,  -0x1.fb44202a2306bp-5,  0x1.4de9aa1779d23p-5,  -0x1.b9f8b11bfd3dp-6,
    0x1.2564717896ec6p-6,  -0x1.863563f44f303p-7,  0x1.03c0adafa529cp-7,  -0x1.5a06a5d662cb4p-8,
    0x1.cd2011454fd05p-9,  -0x1.336dbe66757c8p-9,  0x1.99d3f5c0cad5ep-10, -0x1.0fb38d217b8p-10,
    0x1.6a3e76070c135p-11, -0x1.fd8e50abf2196p-12, 0x1.53b23429da21bp-12, -0x1.2fae5cb379bf2p-13,
    0x1.94e73cc9821e1p-14, -0x1.75c084e78a4cdp-13, 0x1.f255c4568ac4dp-14};

// digamma(x) = ln x - 1/(2 x) - D(1/x^2) / x^2 from 10 on. Error 2^-62.
constexpr double kDigammaFar[] = {0x1.5555555555553p-4,  -0x1.11111110ed929p-7, 0x1.04103fbfac73fp-8,
                                  -0x1.110ef08762e1bp-8, 0x1.eedbfbb0b45a3p-8,  -0x1.34530291007fep-6};

// x less the closest integer, as a magnitude: at most 1/2.
Scalar from_integer(const Scalar& x) { return abs(x - round_even(x)); }

// |sin(pi x)| for 0 <= x <= 1/2.
Scalar sine_of_turn(const Scalar& x) {
  const Scalar is_upper = x > 0.25;
  const HalfTurns parts = sine_and_cosine_of_half_turns(where(is_upper, 0.5 - x, x));
  return where(is_upper, parts.cosine, parts.sine);
}

// cot(pi x) for 0 <= x <= 1/2.
Scalar cotangent_of_turn(const Scalar& x) {
  const Scalar is_upper = x > 0.25;
  const HalfTurns parts = sine_and_cosine_of_half_turns(where(is_upper, 0.5 - x, x));
  return where(is_upper, parts.sine, parts.cosine) / where(is_upper, parts.cosine, parts.sine);
}

// For x >= -1/2. Below 5/2 from the closer one of 1 and 2, below 8 by gamma(x) = (x - 1) (x - 2) ... gamma(x - k).
Scalar lgamma_from_minus_half(const Scalar& x) {
  const Scalar is_below = x < 0.5, is_around_one = x < 1.5, is_far = x >= 8;
  const Scalar steps = floor(x - 1.5);
  Scalar product = where(is_below, abs(x), where(is_far, x, 1));
  for (int k = 1; k <= 6; ++k) product = where((steps >= k) & !is_far, product * (x - k), product);
  const Scalar log_product = log(product);

  const Scalar t = x - where(is_below, 0, where(is_around_one, x.like(1), where(is_far, 2, steps + 2)));
  const Scalar bounded = where(is_far, 0, t);
  const Scalar near = bounded * where(is_around_one, polynomial(bounded, kAroundOne), polynomial(bounded, kAroundTwo));
  const Scalar reciprocal = 1 / where(is_far, x, 8);
  const Scalar series = fma(reciprocal, polynomial(reciprocal * reciprocal, kStirling), kStirlingConstant);
  const Scalar far = fma(x - 0.5, log_product - 1, series);
  return where(is_far, far, near + where(is_below, -log_product, log_product));
}

Scalar lgamma_f64(const Scalar& x) {
  const Scalar is_reflected = x < -0.5;
  const Scalar direct = lgamma_from_minus_half(where(is_reflected, 1 - x, x));
  const Scalar turn = from_integer(x);
  const Scalar is_pole = equal(turn, 0) | equal(x, -INFINITY);
  const Scalar reflected = where(is_pole, INFINITY, log(M_PI / sine_of_turn(turn)) - direct);
  return where(is_reflected, reflected, direct);
}

// For x > 0. From [1, 2) by digamma(x) = digamma(x - k) + 1/(x - 1) + ... + 1/(x - k), a sum kept as one fraction.
Scalar digamma_of_positive(const Scalar& x) {
  const Scalar is_below = x < 1, is_far = x >= 10;
  const Scalar steps = floor(x - 1);
  Scalar numerator = where(is_below, x.like(-1), 0), denominator = where(is_below, x, 1);
  for (int k = 1; k <= 8; ++k) {
    const Scalar is_taken = (steps >= k) & !is_far;
    const Scalar factor = x - k;
    numerator = where(is_taken, fma(numerator, factor, denominator), numerator);
    denominator = where(is_taken, denominator * factor, denominator);
  }
  const Scalar moved = where(is_far, 1.5, x - where(is_below, x.like(-1), steps));
  const Scalar around_root = ((moved - kRoot) - kRootLow) * polynomial(moved - 1.5, kAroundRoot);

  const Scalar reciprocal = 1 / where(is_far, x, 10);
  const Scalar z = reciprocal * reciprocal;
  const Scalar far = log(x) - fma(z, polynomial(z, kDigammaFar), reciprocal * 0.5);
  return where(is_far, far, around_root + numerator / denominator);
}

Scalar digamma_f64(const Scalar& x) {
  const Scalar is_reflected = x < 0;
  const Scalar direct = digamma_of_positive(where(is_reflected, 1 - x, x));
  const Scalar turn = x - round_even(x);
  const Scalar cotangent = copy_sign(cotangent_of_turn(abs(turn)), turn);
  const Scalar reflected = where(equal(turn, 0), NAN, fma(cotangent, -M_PI, direct));
  return where(equal(x, 0), NAN, where(is_reflected, reflected, direct));
}

}  // namespace

Scalar lgamma(const Scalar& x) { return through_f64<lgamma_f64>(x); }

Scalar digamma(const Scalar& x) { return through_f64<digamma_f64>(x); }

}  // namespace ingot::loops::math
