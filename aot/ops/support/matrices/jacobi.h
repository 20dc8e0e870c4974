// Jacobi's method: pairs of rows are turned in their plane until every pair is as it should be. Each round turns
// disjoint pairs, all rows at once; after a sweep of n or n + 1 rounds every two rows have met.
// Brent & Luk, "The solution of singular-value and symmetric eigenvalue problems on multiprocessor arrays" (1985).
#pragma once

#include <functional>

#include "aot/ops/support/algebra.h"

namespace ingot::ops {

// How each row x turns with its partner y, by an angle θ: to x cos θ - y sin θ. [..., n, 1]
struct Turn {
  Value* partner;           // numbers of rows [..., n], each other's; a row's own when it rests
  Term sine, half_tangent;  // of θ, and of θ / 2
  Term is_turned;           // i1
};

// The turn that makes the symmetric matrices [[own, between], [between, other]] diagonal, of each row and its partner;
// none where |between| is within the bound. All [..., n, 1]; `between` is the same for both.
Turn turn_of(GraphBuilder& b, Value* partner, Term own, Term between, Term bound);

// The rows of matrices [..., n, c], turned.
Term turned(GraphBuilder& b, Value* rows, const Turn& turn);

// What `starts`, of which the first has the rows, become in sweeps whose rounds are what `round(b, partner, carried)`
// makes of them. Ends after a sweep in which nothing turned, and after kSweepsMax anyway: NaN never turns.
inline constexpr int64_t kSweepsMax = 30;
struct Round {
  Values next;
  Term is_turned;
};
using MakeRound = std::function<Round(GraphBuilder& b, Value* partner, const Values& carried)>;
Values sweep(GraphBuilder& b, const Values& starts, const MakeRound& round);

// 1 or -1 for each row [..., n, 1]: times it, the row's largest element is positive.
Term signs_of_rows(GraphBuilder& b, Term x);

// The turn of one pair of numbers, x and its partner y: what the ops mean.
class PairTurn {
 public:
  PairTurn(double own, double other, double between);
  void operator()(double& x, double& y) const {
    const double old = x;
    x = cosine_ * (old - tangent_ * y);
    y = cosine_ * (y + tangent_ * old);
  }

 private:
  double cosine_, tangent_;
};

}  // namespace ingot::ops
