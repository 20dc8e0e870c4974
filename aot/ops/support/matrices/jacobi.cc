#include "aot/ops/support/matrices/jacobi.h"

#include <cmath>

#include "aot/ops/support/index.h"
#include "aot/ops/support/loop.h"
#include "aot/ops/support/matrices/matrices.h"

namespace ingot::ops {
namespace {

const TensorType kTruth{DType::kI1, {}};

// Rows stand around a circle of an odd number of places, of which one may be empty; in round r, i meets r - i.
Value* partners(GraphBuilder& b, const TensorType& matrices, Value* round) {
  const TensorType type = with_extents(matrices, {matrices.shape[matrices.rank() - 2]}, DType::kI32);
  const int64_t rows = type.shape.back(), places = rows | 1;
  const Term row(b, iota(b, type, type.rank() - 1)), r(b, broadcast_scalar(b, round, type.shape));
  const Term sum = r - row + static_cast<double>(places);
  const Term met = sum.binary(kRemainder, sum.like(static_cast<double>(places)));
  return where(met < met.like(static_cast<double>(rows)), met, row);
}

Value* any(GraphBuilder& b, Value* truths) { return reduce(b, kOr, truths, iota_dims(truths->type.rank())); }

}  // namespace

// tan θ = sign(τ) / (|τ| + √(1 + τ²)),  τ = (other - own) / (2 between)
// Golub & Van Loan, Matrix Computations, 4th edition, section 8.5.2. A row and its partner get tangents of opposite
// signs, where τ is zero by their order.
Turn turn_of(GraphBuilder& b, Value* partner, Term own, Term between, Term bound) {
  const Term other(b, take_rows(b, own, partner));
  const Term row = row_numbers(b, own.shape()), met(b, reshape(b, partner, own.shape()));
  const Term is_turned = both(row.compare("NE", met), abs(between) > bound);
  const Term tau = (other - own) / (2.0 * where(is_turned, between, 1.0));
  const Term order = where(row < met, 1.0, tau.like(-1));
  const Term direction = where(equal(tau, tau.like(0)), order, sign(tau));
  const Term t = where(is_turned, direction / (abs(tau) + (1.0 + square(tau)).unary(kSqrt)), 0.0);
  const Term cosine = 1.0 / (1.0 + square(t)).unary(kSqrt), sine = t * cosine;
  return {partner, sine, sine / (1.0 + cosine), is_turned};
}

// x cos θ - y sin θ = x - sin θ (y + x tan θ/2), where what small angles take from x is not lost in a cosine near 1:
// rows would grow with each of them. Rutishauser, "The Jacobi method for real symmetric matrices" (1966).
Term turned(GraphBuilder& b, Value* rows, const Turn& turn) {
  const Shape& shape = rows->type.shape;
  const Term x(b, rows), y(b, take_rows(b, rows, turn.partner));
  return x - spread(b, turn.sine, shape) * (y + spread(b, turn.half_tangent, shape) * x);
}

Values sweep(GraphBuilder& b, const Values& starts, const MakeRound& round) {
  const TensorType& matrices = starts[0]->type;
  const int64_t rounds = matrices.shape[matrices.rank() - 2] | 1;
  const TensorType index{DType::kI32, {}};
  Values carried = starts;
  carried.push_back(constant(b, splat_int(kTruth, 1)));
  carried.push_back(constant(b, index, 0));
  Values end = while_loop(
      b, carried,
      [&](GraphBuilder& inner, const Values& now) {
        const Term sweeps(inner, now.back()), is_turned(inner, now[now.size() - 2]);
        return both(is_turned, sweeps < sweeps.like(kSweepsMax));
      },
      [&](GraphBuilder& inner, Values now) {
        const Term sweeps(inner, now.back());
        now.pop_back();
        now.back() = constant(inner, splat_int(kTruth, 0));
        Values next = counted_loop(inner, rounds, now, [&](GraphBuilder& innermost, Value* number, Values values) {
          const Term was_turned(innermost, values.back());
          values.pop_back();
          const Round made = round(innermost, partners(innermost, matrices, number), values);
          Values all = made.next;
          all.push_back(was_turned.binary(kOr, {innermost, any(innermost, made.is_turned)}));
          return all;
        });
        next.push_back(sweeps + 1);
        return next;
      });
  end.resize(starts.size());
  return end;
}

Term signs_of_rows(GraphBuilder& b, Term x) {
  const Term most(b, reduce_rows(b, kMaximum, x)), least(b, reduce_rows(b, kMinimum, x));
  return where(most < -least, -1.0, most.like(1));
}

PairTurn::PairTurn(double own, double other, double between) {
  const double tau = (other - own) / (2 * between);
  tangent_ = std::copysign(1, tau) / (std::abs(tau) + std::hypot(1, tau));
  cosine_ = 1 / std::hypot(1, tangent_);
}

}  // namespace ingot::ops
