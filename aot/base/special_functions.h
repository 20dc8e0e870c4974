// Functions that <cmath> lacks, as definitions: computed in long double, so that their f64 results can judge others.
// With an 80-bit long double they are right to an ulp;
// next to a zero at negative x the error is relative to 1e-3 there.
#pragma once

namespace ingot {

// The y with erf(y) = x: infinite at -1 and 1, NaN beyond.
double erf_inv(double x);

// ln |gamma(x)|; infinite at 0, -1, -2, ... and at both infinities.
double lgamma(double x);

// The derivative of ln gamma(x). NaN at its poles 0, -1, -2, ... and at -infinity.
double digamma(double x);

// Hurwitz: the sum over k >= 0 of (q + k)^-s. Infinite at s = 1, NaN below. For q <= 0 s must be an integer, else NaN;
// at the poles q = 0, -1, -2, ... it is infinite where s is even, NaN where it is odd.
double zeta(double s, double q);

// The n-th derivative of digamma, for whole n >= 0; else NaN.
double polygamma(double n, double x);

// e^-|x| I1(x), I1 the modified Bessel function of the first kind.
double bessel_i1e(double x);

}  // namespace ingot
