// ingot.eigh: eigenvalues and eigenvectors of symmetric matrices, by Jacobi's method.
// Golub & Van Loan, Matrix Computations, 4th edition, section 8.5.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "aot/ops/support/infer.h"
#include "aot/ops/support/matrices/jacobi.h"
#include "aot/ops/support/matrices/matrices.h"
#include "aot/ops/support/matrices/matrix_samples.h"

namespace ingot::eigh_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  const TensorType& a = args.operands[0];
  const int64_t size = ops::check_matrices(args, a);
  ops::check_square(args, a);
  return {ops::with_extents(a, {size}, a.dtype), a};
}

bool is_lower(const Attrs& attrs) { return attrs.boolean("lower", true); }

// Of one symmetric matrix, which becomes diagonal; the columns of `vectors`, the identity at first, are turned along.
void make_diagonal(std::span<double> a, std::span<double> vectors, size_t size) {
  const auto at = [&](size_t i, size_t j) -> double& { return a[i * size + j]; };
  double largest = 0;
  for (const double value : a) largest = std::max(largest, std::abs(value));
  const double bound = largest * std::numeric_limits<double>::epsilon() / 16;
  bool is_turned = true;
  for (int sweep = 0; sweep < ops::kSweepsMax && is_turned; ++sweep) {
    is_turned = false;
    for (size_t p = 0; p < size; ++p) {
      for (size_t q = p + 1; q < size; ++q) {
        if (!(std::abs(at(p, q)) > bound)) continue;
        is_turned = true;
        const ops::PairTurn turn(at(p, p), at(q, q), at(p, q));
        for (size_t k = 0; k < size; ++k) turn(at(p, k), at(q, k));
        for (size_t k = 0; k < size; ++k) turn(at(k, p), at(k, q));
        for (size_t k = 0; k < size; ++k) turn(vectors[k * size + p], vectors[k * size + q]);
        at(p, q) = at(q, p) = 0;
      }
    }
  }
}

// The eigenvalues in ascending order; the largest element of each eigenvector is positive.
std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  RefTensor values(args.result_type(0)), vectors(args.result_type(1));
  const size_t size = vectors.type.shape.back(), elements = size * size;
  for (size_t base = 0; elements > 0 && base < vectors.f.size(); base += elements) {
    std::vector<double> a(elements), v(elements);
    for (size_t i = 0; i < size; ++i) {
      v[i * size + i] = 1;
      for (size_t j = 0; j < size; ++j) {
        const bool is_read = is_lower(args.attrs()) ? i >= j : i <= j;
        a[i * size + j] = args.inputs[0].f[base + (is_read ? i * size + j : j * size + i)];
      }
    }
    make_diagonal(a, v, size);
    std::vector<size_t> order(size);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](size_t i) { return a[i * size + i]; });
    for (size_t j = 0; j < size; ++j) {
      const size_t from = order[j];
      values.f[base / size + j] = a[from * size + from];
      double largest = 0;
      for (size_t i = 0; i < size; ++i) {
        if (std::abs(v[i * size + from]) > std::abs(largest)) largest = v[i * size + from];
      }
      for (size_t i = 0; i < size; ++i) vectors.f[base + i * size + j] = v[i * size + from] * (largest < 0 ? -1 : 1);
    }
  }
  return {values, vectors};
}

double epsilon(DType dtype) { return dtype == DType::kF32 ? 0x1p-23 : 0x1p-52; }

// Carried are the symmetric matrices, which become diagonal, and the vectors as rows. Both sides of A turn alike:
// R A Rᵀ = R (R A)ᵀ; what turns to zero is set to it.
ops::Round make_round(GraphBuilder& b, Value* partner, const Values& carried, Term bound) {
  const Term a(b, carried[0]);
  const Shape& shape = a.shape();
  Shape one = shape;
  one.back() = 1;
  const Term met = ops::spread(b, ops::reshape(b, partner, one), shape);
  const Term is_pair = equal(ops::column_numbers(b, shape), met);
  const Term own(b, ops::reduce_rows(b, kAdd, where(ops::is_diagonal(b, shape), a, 0.0)));
  const Term pair(b, ops::reduce_rows(b, kAdd, where(is_pair, a, 0.0)));
  const Term between = 0.5 * (pair + Term(b, ops::take_rows(b, pair, partner)));
  const ops::Turn turn = ops::turn_of(b, partner, own, between, bound);
  const Term both_sides = ops::turned(b, ops::transposed(b, ops::turned(b, a, turn)), turn);
  const Term is_gone = both(is_pair, ops::spread(b, turn.is_turned, shape));
  return {{where(is_gone, 0.0, both_sides), ops::turned(b, carried[1], turn)}, turn.is_turned};
}

Values expand(ExpandArgs& args) {
  GraphBuilder& b = args.b;
  Value* given = args.operand(0);
  const TensorType& type = given->type;
  const Term read(b, ops::triangle(b, given, is_lower(args.attrs())));
  const Term diagonal = ops::is_diagonal(b, type.shape);
  const Term a = where(diagonal, read, read + Term(b, ops::transposed(b, read)));
  const Term largest(b, ops::reduce_columns(b, kMaximum, ops::reduce_rows(b, kMaximum, abs(a))));
  const Term bound =
      ops::spread(b, largest * epsilon(type.dtype), ops::with_extents(type, {type.shape.back(), 1}, type.dtype).shape);
  const Term poison = ops::spread(b, largest - largest, type.shape);  // 0, or NaN where not all elements are finite
  const Values end = ops::sweep(b, {a + poison, converted(diagonal, type.dtype) + poison},
                                [&](GraphBuilder& inner, Value* partner, const Values& carried) {
                                  return make_round(inner, partner, carried, Term(inner, bound));
                                });
  const Term found(b, ops::reduce(b, kAdd, where(diagonal, Term(b, end[0]), 0.0), {type.rank() - 1}));
  const Op* order = b.create(kTopK, {-found}, {{"k", IntAttr{type.shape.back()}}});
  const Term rows(b, ops::take_rows(b, end[1], order->result(1)));
  const Term signs = ops::spread(b, ops::signs_of_rows(b, rows), rows.shape());
  return {-Term(b, order->result(0)), ops::transposed(b, rows * signs)};
}

std::vector<Sample> samples() {
  std::vector<Sample> samples;
  for (const ops::SampleMatrix& a : std::initializer_list<ops::SampleMatrix>{
           {"", 1, 1, "f32"},
           {"", 2, 2, "f64"},
           {"2x3x", 4, 4, "f32", 9},
           {"2x", 5, 5, "f64", 9},
           {"", 18, 18, "f32", 9},
           {"0x", 3, 3, "f32"},
           {"2x", 0, 0, "f32"},
       }) {
    const bool lower = a.rows % 2 == 0;
    samples.push_back(ops::decomposition_sample(
        a, fmt::format("\"ingot.eigh\"(%a) <{{lower = {}}}>", lower),
        {fmt::format("{}x{}", a.rows, a.dtype), fmt::format("{0}x{0}x{1}", a.rows, a.dtype)}));
  }
  return samples;
}

}  // namespace

extern const OpDef kEigh = ops::decomposition({
    .name = "ingot.eigh",
    .doc = "The eigenvalues, ascending, and eigenvectors of symmetric matrices of which one triangle is read; the "
           "largest element of each vector is positive.",
    .infer = infer,
    .evaluate = evaluate,
    .expand = expand,
    .samples = samples,
});

}  // namespace ingot::eigh_op
