// ingot.svd: singular values and vectors of matrices, by one-sided Jacobi rotations of the triangular factor.
// Drmač & Veselić, "New fast and accurate Jacobi SVD algorithm" (2008).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "aot/ops/support/infer.h"
#include "aot/ops/support/matrices/householder.h"
#include "aot/ops/support/matrices/jacobi.h"
#include "aot/ops/support/matrices/matrices.h"
#include "aot/ops/support/matrices/matrix_samples.h"

namespace ingot::svd_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  const TensorType& a = args.operands[0];
  const int64_t count = ops::check_matrices(args, a), rows = a.shape[a.rank() - 2], columns = a.shape.back();
  return {ops::with_extents(a, {rows, count}, a.dtype), ops::with_extents(a, {count}, a.dtype),
          ops::with_extents(a, {count, columns}, a.dtype)};
}

// Of one matrix of at least as many rows as columns, row-major: its columns are turned until all are orthogonal, and
// those of `vectors`, the identity at first, along with them.
void make_orthogonal(std::span<double> a, std::span<double> vectors, size_t columns) {
  const size_t rows = a.size() / columns;
  const auto product = [&](size_t p, size_t q) {
    double sum = 0;
    for (size_t i = 0; i < rows; ++i) sum += a[i * columns + p] * a[i * columns + q];
    return sum;
  };
  bool is_turned = true;
  for (int sweep = 0; sweep < ops::kSweepsMax && is_turned; ++sweep) {
    is_turned = false;
    for (size_t p = 0; p < columns; ++p) {
      for (size_t q = p + 1; q < columns; ++q) {
        const double own = product(p, p), other = product(q, q), between = product(p, q);
        if (!(std::abs(between) > std::sqrt(own) * std::sqrt(other) * std::numeric_limits<double>::epsilon())) continue;
        is_turned = true;
        const ops::PairTurn turn(own, other, between);
        for (const std::span<double> matrix : {a, vectors}) {
          for (size_t row = 0; row < matrix.size(); row += columns) {
            turn(matrix[row + p], matrix[row + q]);
          }
        }
      }
    }
  }
}

// The singular vectors on both sides of one matrix, [rows, columns] and [columns, columns], by descending value.
struct Decomposition {
  std::vector<double> left, values, right;
};

// The vectors on the left are those of the QR factors of the orthogonal columns: of length 1 even where these are zero.
Decomposition decompose(std::span<const double> a, size_t columns) {
  const size_t rows = a.size() / columns;
  std::vector<double> turned(a.begin(), a.end()), vectors(columns * columns), norms(columns);
  for (size_t j = 0; j < columns; ++j) vectors[j * columns + j] = 1;
  make_orthogonal(turned, vectors, columns);
  for (size_t k = 0; k < turned.size(); ++k) norms[k % columns] = std::hypot(norms[k % columns], turned[k]);
  std::vector<size_t> order(columns);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](size_t j) { return norms[j]; });
  std::vector<double> sorted(turned.size()), taus(columns);
  Decomposition made{std::vector<double>(turned.size()), std::vector<double>(columns),
                     std::vector<double>(vectors.size())};
  for (size_t j = 0; j < columns; ++j) {
    made.values[j] = norms[order[j]];
    for (size_t i = 0; i < rows; ++i) sorted[i * columns + j] = turned[i * columns + order[j]];
    for (size_t i = 0; i < columns; ++i) made.right[i * columns + j] = vectors[i * columns + order[j]];
  }
  ops::reflect_to_triangle(sorted, rows, taus);
  ops::multiply_reflections(sorted, taus, rows, made.left);
  for (size_t k = 0; k < made.left.size(); ++k) {
    const size_t j = k % columns;
    if (sorted[j * columns + j] < 0) made.left[k] = -made.left[k];
  }
  return made;
}

// The largest element of each vector on the left is positive.
std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& a = args.inputs[0];
  RefTensor u(args.result_type(0)), values(args.result_type(1)), vt(args.result_type(2));
  const int rank = a.type.rank();
  const size_t rows = a.type.shape[rank - 2], columns = a.type.shape[rank - 1], count = std::min(rows, columns);
  const bool is_wide = rows < columns;
  for (size_t matrix = 0; count > 0 && matrix < a.f.size() / (rows * columns); ++matrix) {
    std::vector<double> tall(rows * columns);
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < columns; ++j) {
        tall[is_wide ? j * rows + i : i * columns + j] = a.f[(matrix * rows + i) * columns + j];
      }
    }
    const Decomposition made = decompose(tall, count);
    const std::vector<double>&left = is_wide ? made.right : made.left, &right = is_wide ? made.left : made.right;
    for (size_t k = 0; k < count; ++k) {
      double largest = 0;
      for (size_t i = 0; i < rows; ++i) {
        if (std::abs(left[i * count + k]) > std::abs(largest)) largest = left[i * count + k];
      }
      const double sign = largest < 0 ? -1 : 1;
      values.f[matrix * count + k] = made.values[k];
      for (size_t i = 0; i < rows; ++i) u.f[(matrix * rows + i) * count + k] = sign * left[i * count + k];
      for (size_t j = 0; j < columns; ++j) vt.f[(matrix * count + k) * columns + j] = sign * right[j * count + k];
    }
  }
  return {u, values, vt};
}

double tolerance(DType dtype) { return dtype == DType::kF32 ? 0x1p-21 : 0x1p-50; }

// Carried are rows that become orthogonal, and others that are turned along.
ops::Round make_round(GraphBuilder& b, Value* partner, const Values& carried) {
  const Term x(b, carried[0]);
  const Term own(b, ops::reduce_rows(b, kAdd, square(x)));
  const Term between(b, ops::reduce_rows(b, kAdd, x * Term(b, ops::take_rows(b, x, partner))));
  const Term length = own.unary(kSqrt), other(b, ops::take_rows(b, length, partner));
  const ops::Turn turn = ops::turn_of(b, partner, own, between, length * other * tolerance(carried[0]->type.dtype));
  return {{ops::turned(b, x, turn), ops::turned(b, carried[1], turn)}, turn.is_turned};
}

// A = Q R;  the rows of R are turned until they are orthogonal, J R = W;  the rows of W are Σ Zᵀ:  A = (Q Jᵀ) Σ Zᵀ
// Z is read off the QR factors of Wᵀ, so that it is orthogonal where singular values are zero, too.
Values expand(ExpandArgs& args) {
  GraphBuilder& b = args.b;
  Value* a = args.operand(0);
  const int rank = a->type.rank();
  const int64_t count = args.op.result(1)->type.shape.back();
  const bool is_wide = a->type.shape[rank - 2] < a->type.shape[rank - 1];
  const auto packed_and_taus = [&](Value* x) {
    const Op* qr = b.create(kQr, {x});
    return std::pair(qr->result(0), qr->result(1));
  };
  const auto orthogonal = [&](Value* packed, Value* taus) { return b.make(kHouseholderProduct, {packed, taus}); };

  const auto [packed, taus] = packed_and_taus(is_wide ? ops::transposed(b, a) : a);
  const Term r(b, ops::triangle(b, ops::block(b, packed, {0, count}, {0, count}), false));
  const Term largest(b, ops::reduce_columns(b, kMaximum, ops::reduce_rows(b, kMaximum, abs(r))));
  const Term scale = where(equal(largest, largest.like(0)), 1.0, largest);
  const Term one = converted(ops::is_diagonal(b, r.shape()), a->type.dtype);
  const Term poison = ops::spread(b, scale - scale, r.shape());  // 0, or NaN where not all elements are finite
  const Values end = ops::sweep(b, {r / ops::spread(b, scale, r.shape()), one + poison}, make_round);

  const Term norms(b, ops::reduce_rows(b, kAdd, square(Term(b, end[0]))));
  const TensorType& values = args.op.result(1)->type;
  const Op* order = b.create(kTopK, {ops::reshape(b, norms.unary(kSqrt), values.shape)}, {{"k", IntAttr{count}}});
  const Term w(b, ops::take_rows(b, end[0], order->result(1)));
  const auto [right_packed, right_taus] = packed_and_taus(ops::transposed(b, w));
  const Term diagonal(b,
                      ops::reduce_columns(b, kAdd, where(ops::is_diagonal(b, r.shape()), Term(b, right_packed), 0.0)));
  const Term flips = ops::spread(b, where(diagonal < diagonal.like(0), -1.0, diagonal.like(1)), r.shape());
  const Term right = Term(b, orthogonal(right_packed, right_taus)) * flips;
  Value* left = ops::matmul(b, orthogonal(packed, taus), ops::take_rows(b, end[1], order->result(1)), false, true);

  const Term ut(b, ops::transposed(b, is_wide ? right : left)), vt(b, ops::transposed(b, is_wide ? left : right));
  const Term signs = ops::signs_of_rows(b, ut);
  const Term sigma(b, order->result(0));
  Shape flat = values.shape;
  flat.back() = 1;
  return {ops::transposed(b, ut * ops::spread(b, signs, ut.shape())),
          sigma * ops::spread(b, ops::reshape(b, scale, flat), values.shape), vt * ops::spread(b, signs, vt.shape())};
}

std::vector<Sample> samples() {
  std::vector<Sample> samples;
  for (const ops::SampleMatrix& a : std::initializer_list<ops::SampleMatrix>{
           {"", 1, 1, "f32"},
           {"", 2, 2, "f64"},
           {"2x3x", 4, 4, "f32", 9},
           {"2x", 7, 5, "f64", 9},
           {"2x", 3, 8, "f32", 9},
           {"", 18, 18, "f32", 9},
           {"0x", 3, 3, "f32"},
           {"2x", 0, 3, "f32"},
           {"2x", 3, 0, "f32"},
       }) {
    const int64_t count = std::min(a.rows, a.columns);
    samples.push_back(ops::decomposition_sample(
        a, "\"ingot.svd\"(%a)",
        {fmt::format("{}x{}x{}", a.rows, count, a.dtype), fmt::format("{}x{}", count, a.dtype),
         fmt::format("{}x{}x{}", count, a.columns, a.dtype)}));
  }
  return samples;
}

}  // namespace

extern const OpDef kSvd = ops::decomposition({
    .name = "ingot.svd",
    .doc =
        "A = U S Vᵀ: as many singular vectors as the lesser extent, the singular values in descending order, and Vᵀ; "
        "the largest element of each vector of U is positive.",
    .infer = infer,
    .evaluate = evaluate,
    .expand = expand,
    .samples = samples,
});

}  // namespace ingot::svd_op
