// ingot.lu: matrices as products of a permutation, a lower and an upper triangular matrix, with partial pivoting.
// Golub & Van Loan, Matrix Computations, 4th edition, sections 3.2 and 3.4.
#include "aot/ops/support/matrices/lu.h"

#include <fmt/format.h>

#include <cmath>

#include "aot/ops/support/infer.h"
#include "aot/ops/support/loop.h"
#include "aot/ops/support/matrices/matrices.h"
#include "aot/ops/support/matrices/matrix_samples.h"
#include "aot/ops/support/matrices/triangular_solve.h"

namespace ingot::ops {
namespace {

// Each matrix with two rows exchanged: k, a scalar, and pivot [..., 1].
Term exchanged(GraphBuilder& b, Value* x, Value* k, Value* pivot) {
  const Shape& shape = x->type.shape;
  Shape one(shape.size(), 1);
  std::copy(shape.begin(), shape.end() - 2, one.begin());
  const Term row = row_numbers(b, shape), old(b, x);
  const Term at_k = spread(b, row_at(b, x, k), shape), at_pivot = spread(b, take_rows(b, x, pivot), shape);
  const Term is_pivot = equal(row, spread(b, reshape(b, pivot, one), shape));
  return where(equal(row, {b, broadcast_scalar(b, k, shape)}), at_pivot, where(is_pivot, at_k, old));
}

}  // namespace

Value* permutation_of_pivots(GraphBuilder& b, Value* pivots, int64_t rows) {
  Shape shape = pivots->type.shape;
  const int64_t count = shape.back();
  shape.back() = rows;
  Shape column = shape;
  column.push_back(1);
  Value* start = iota(b, {pivots->type.dtype, column}, pivots->type.rank() - 1);
  if (!count) return reshape(b, start, shape);
  const Values end = counted_loop(b, count, {start}, [&](GraphBuilder& inner, Value* k, const Values& carried) {
    return Values{exchanged(inner, carried[0], k, column_at(inner, pivots, k))};
  });
  return reshape(b, end[0], shape);
}

}  // namespace ingot::ops

namespace ingot::lu_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  const TensorType& a = args.operands[0];
  const int64_t pivots = ops::check_matrices(args, a), rows = a.shape[a.rank() - 2];
  return {a, ops::with_extents(a, {pivots}, DType::kI32), ops::with_extents(a, {rows}, DType::kI32)};
}

// Of one matrix of `rows` rows, in place. The first of several largest elements is the pivot; columns of zeros have
// none, and stay.
void factorise(std::span<double> a, std::span<int64_t> pivots, std::span<int64_t> permutation) {
  const size_t rows = permutation.size(), columns = a.size() / rows;
  const auto at = [&](size_t i, size_t j) -> double& { return a[i * columns + j]; };
  for (size_t i = 0; i < rows; ++i) permutation[i] = static_cast<int64_t>(i);
  for (size_t k = 0; k < pivots.size(); ++k) {
    size_t pivot = k;
    for (size_t i = k + 1; i < rows; ++i) {
      if (std::abs(at(i, k)) > std::abs(at(pivot, k))) pivot = i;
    }
    pivots[k] = static_cast<int64_t>(pivot);
    std::swap(permutation[k], permutation[pivot]);
    for (size_t j = 0; j < columns; ++j) std::swap(at(k, j), at(pivot, j));
    if (at(k, k) == 0) continue;
    for (size_t i = k + 1; i < rows; ++i) {
      at(i, k) /= at(k, k);
      for (size_t j = k + 1; j < columns; ++j) at(i, j) -= at(i, k) * at(k, j);
    }
  }
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  RefTensor lu = args.inputs[0], pivots(args.result_type(1)), permutation(args.result_type(2));
  const size_t rows = permutation.type.shape.back(), columns = lu.type.shape.back(), count = pivots.type.shape.back();
  for (size_t k = 0; rows > 0 && k < permutation.i.size() / rows; ++k) {
    factorise(std::span(lu.f).subspan(k * rows * columns, rows * columns),
              std::span(pivots.i).subspan(k * count, count), std::span(permutation.i).subspan(k * rows, rows));
  }
  return {lu, pivots, permutation};
}

// One column: carried are the matrices, the pivots so far, and the row numbers as a column.
Values eliminate(GraphBuilder& b, Value* k, const Values& carried) {
  const auto [a, pivots, permutation] = std::tuple(carried[0], carried[1], carried[2]);
  const Shape& shape = a->type.shape;
  const int64_t rows = shape[shape.size() - 2];

  // The first of the largest elements from row k on; of NaN, that of row k.
  const Term candidate = abs(Term(b, ops::column_at(b, a, k)));
  const Term row = ops::row_numbers(b, candidate.shape());
  const Term is_left = row >= Term(b, ops::broadcast_scalar(b, k, candidate.shape()));
  Value* largest = ops::reduce_columns(b, kMaximum, where(is_left, candidate, -1.0));
  const Term is_less = candidate < ops::spread(b, largest, candidate.shape());
  const Term number = where(both(is_left, is_less.unary(kNot)), row, static_cast<double>(rows));
  Value* pivot = ops::reduce(b, kMinimum, number, {static_cast<int64_t>(shape.size()) - 2});

  // a[i, j] -= a[i, k] / a[k, k] a[k, j] below and to the right of the pivot.
  const Term swapped = ops::exchanged(b, a, k, pivot);
  const Term top(b, ops::row_at(b, swapped, k)), first(b, ops::column_at(b, swapped, k));
  const Term diagonal = ops::spread(b, ops::column_at(b, top, k), first.shape());
  const Term factor = ops::spread(b, first / where(equal(diagonal, diagonal.like(0)), 1.0, diagonal), shape);
  const Term number_of_step(b, ops::broadcast_scalar(b, k, shape));
  const Term column = ops::column_numbers(b, shape);
  const Term inner = where(column > number_of_step, swapped - factor * ops::spread(b, top, shape), swapped);
  const Term below = where(equal(column, number_of_step), factor, inner);
  const Term next = where(ops::row_numbers(b, shape) > number_of_step, below, swapped);

  const Term place(b, ops::iota(b, pivots->type, pivots->type.rank() - 1));
  const Term is_place = equal(place, {b, ops::broadcast_scalar(b, k, place.shape())});
  const Term all_pivots = where(is_place, ops::spread(b, pivot, place.shape()), Term(b, pivots));
  return {next, all_pivots, ops::exchanged(b, permutation, k, pivot)};
}

// With few pivots column by column. Else the left half of the columns first:
//   P₁ A = [L₁₁; L₂₁] U₁₁ beside [A₁₂; A₂₂],  U₁₂ = L₁₁⁻¹ A₁₂,  P₂ (A₂₂ - L₂₁ U₁₂) = L₂₂ U₂₂
// Toledo, "Locality of reference in LU decomposition with partial pivoting" (1997).
Values expand(ExpandArgs& args) {
  GraphBuilder& b = args.b;
  Value* a = args.operand(0);
  const int64_t last = a->type.rank() - 1, rows = a->type.shape[last - 1], columns = a->type.shape[last];
  const TensorType& pivots = args.op.result(1)->type;
  const TensorType& permutation = args.op.result(2)->type;
  if (pivots.shape.back() <= ops::kBlock) {
    Value* numbers = ops::iota(b, ops::with_extents(a->type, {rows, 1}, DType::kI32), last - 1);
    const Values end = ops::counted_loop(b, pivots.shape.back(), {a, ops::constant(b, pivots, 0), numbers}, eliminate);
    return {end[0], end[1], ops::reshape(b, end[2], permutation.shape)};
  }
  const int64_t cut = ops::first_part(pivots.shape.back());
  const ops::Range first{0, cut}, second{cut, rows}, right{0, columns - cut};
  const Op* lu1 = b.create(kLu, {ops::block(b, a, {0, rows}, first)});
  Value* beside = ops::take_rows(b, ops::block(b, a, {0, rows}, {cut, columns}), lu1->result(2));
  Value* l11 = ops::block(b, lu1->result(), first, first);
  Value* u12 = ops::triangular_solve(b, l11, ops::block(b, beside, first, right),
                                     {.left_side = true, .lower = true, .unit_diagonal = true});
  Value* l21 = ops::block(b, lu1->result(), second, first);
  const Op* lu2 = b.create(kLu, {ops::subtract(b, ops::block(b, beside, second, right), ops::matmul(b, l21, u12))});

  const auto after_cut = [&](Value* x) { return Term(b, x) + static_cast<double>(cut); };
  Value* stay = ops::iota(b, ops::with_extents(a->type, {cut}, DType::kI32), last - 1);
  Value* order = ops::concatenate(b, {stay, after_cut(lu2->result(2))}, last - 1);
  Value* left = ops::take_rows(b, lu1->result(), order);
  Value* numbers = ops::reshape(b, lu1->result(2), ops::with_extents(a->type, {rows, 1}, DType::kI32).shape);
  return {ops::concatenate(b, {left, ops::concatenate(b, {u12, lu2->result()}, last - 1)}, last),
          ops::concatenate(b, {lu1->result(1), after_cut(lu2->result(1))}, last - 1),
          ops::reshape(b, ops::take_rows(b, numbers, order), permutation.shape)};
}

std::vector<Sample> samples() {
  std::vector<Sample> samples;
  for (const ops::SampleMatrix& a : ops::factored_matrices()) {
    samples.push_back(
        ops::decomposition_sample(a, "\"ingot.lu\"(%a)",
                                  {fmt::format("{}x{}x{}", a.rows, a.columns, a.dtype),
                                   fmt::format("{}xi32", std::min(a.rows, a.columns)), fmt::format("{}xi32", a.rows)}));
  }
  return samples;
}

}  // namespace

extern const OpDef kLu = ops::decomposition({
    .name = "ingot.lu",
    .doc =
        "P A = L U with rows exchanged for the largest pivots: L, without its diagonal of ones, and U in one matrix, "
        "the row exchanged with each row, and the rows' order.",
    .infer = infer,
    .evaluate = evaluate,
    .expand = expand,
    .samples = samples,
});

}  // namespace ingot::lu_op
