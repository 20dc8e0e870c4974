// ingot.qr: matrices as products of an orthogonal and an upper triangular matrix, by Householder reflections.
// Golub & Van Loan, Matrix Computations, 4th edition, sections 5.1 and 5.2; signs and packing are LAPACK's geqrf.
#include <fmt/format.h>

#include "aot/ops/support/infer.h"
#include "aot/ops/support/loop.h"
#include "aot/ops/support/matrices/householder.h"
#include "aot/ops/support/matrices/matrices.h"
#include "aot/ops/support/matrices/matrix_samples.h"

namespace ingot::qr_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  const TensorType& a = args.operands[0];
  return {a, ops::with_extents(a, {ops::check_matrices(args, a)}, a.dtype)};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  RefTensor packed = args.inputs[0], taus(args.result_type(1));
  const int rank = packed.type.rank();
  const size_t rows = packed.type.shape[rank - 2], size = rows * packed.type.shape[rank - 1];
  const size_t count = taus.type.shape.back();
  for (size_t k = 0; size > 0 && k < packed.f.size() / size; ++k) {
    ops::reflect_to_triangle(std::span(packed.f).subspan(k * size, size), rows,
                             std::span(taus.f).subspan(k * count, count));
  }
  return {packed, taus};
}

// One column: carried are the matrices, and τ so far.
Values reflect(GraphBuilder& b, Value* k, const Values& carried) {
  const Term a(b, carried[0]), taus(b, carried[1]);
  const Shape& shape = a.shape();

  // The reflection that makes the column zero below the diagonal, of the column divided by its largest element.
  const Term column(b, ops::column_at(b, a, k)), row = ops::row_numbers(b, column.shape());
  const Term step(b, ops::broadcast_scalar(b, k, column.shape()));
  const auto below = [&](Term x) { return where(row > step, x, 0.0); };
  const Term largest(b, ops::reduce_columns(b, kMaximum, where(row >= step, abs(column), 0.0)));
  const Term scale = where(equal(largest, largest.like(0)), 1.0, largest);
  const Term scaled = column / ops::spread(b, scale, column.shape());
  const Term alpha(b, ops::row_at(b, scaled, k));
  const Term rest(b, ops::reduce_columns(b, kAdd, square(below(scaled))));
  const Term norm = (square(alpha) + rest).unary(kSqrt);
  const Term is_zero = equal(rest, rest.like(0));
  const Term beta = where(is_zero, alpha, where(alpha < alpha.like(0), norm, -norm));
  const Term tau = where(is_zero, 0.0, (beta - alpha) / beta);
  const Term divisor = where(is_zero, 1.0, alpha - beta);
  const Term v = below(scaled / ops::spread(b, divisor, column.shape()));
  const Term is_step = equal(row, step);

  // a -= v τ vᵀ a in the columns after it.
  const Term whole_v = where(is_step, 1.0, v);
  const Term product(b, ops::matmul(b, whole_v, a, true));
  const Term taken =
      ops::spread(b, whole_v * ops::spread(b, tau, column.shape()), shape) * ops::spread(b, product, shape);
  const Term kept = where(is_step, ops::spread(b, beta * scale, column.shape()), where(row > step, v, column));
  const Term number = ops::column_numbers(b, shape), number_of_step(b, ops::broadcast_scalar(b, k, shape));
  const Term here = where(equal(number, number_of_step), ops::spread(b, kept, shape), a);
  const Term next = where(number > number_of_step, a - taken, here);

  const Term place(b, ops::iota(b, {DType::kI32, taus.shape()}, std::ssize(taus.shape()) - 1));
  Shape one = taus.shape();
  one.back() = 1;
  const Term this_tau = ops::spread(b, ops::reshape(b, tau, one), taus.shape());
  return {next, where(equal(place, {b, ops::broadcast_scalar(b, k, place.shape())}), this_tau, taus)};
}

// With few columns, one by one. Else the left half of them first, whose reflections meet the right half together.
// Elmroth & Gustavson, "Applying recursion to serial and parallel QR factorization" (2000).
Values expand(ExpandArgs& args) {
  GraphBuilder& b = args.b;
  Value* a = args.operand(0);
  const int64_t last = a->type.rank() - 1, rows = a->type.shape[last - 1], columns = a->type.shape[last];
  const TensorType& taus = args.op.result(1)->type;
  const int64_t count = taus.shape.back();
  if (count <= ops::kBlock) return ops::counted_loop(b, count, {a, ops::constant(b, taus, 0)}, reflect);
  const int64_t cut = ops::first_part(count);
  const Op* left = b.create(kQr, {ops::block(b, a, {0, rows}, {0, cut})});
  const Term beside(b, ops::block(b, a, {0, rows}, {cut, columns}));
  Value* v = ops::reflection_vectors(b, left->result(), cut);
  Value* met = ops::matmul(b, v, beside, true);
  const Term seen = beside - Term(b, ops::reflected_part(b, v, left->result(1), met, true));
  const Op* right = b.create(kQr, {ops::block(b, seen, {cut, rows}, {0, columns - cut})});
  Value* above = ops::block(b, seen, {0, cut}, {0, columns - cut});
  Value* packed = ops::concatenate(b, {above, right->result()}, last - 1);
  return {ops::concatenate(b, {left->result(), packed}, last),
          ops::concatenate(b, {left->result(1), right->result(1)}, last - 1)};
}

std::vector<Sample> samples() {
  std::vector<Sample> samples;
  for (const ops::SampleMatrix& a : ops::factored_matrices()) {
    samples.push_back(ops::decomposition_sample(a, "\"ingot.qr\"(%a)",
                                                {fmt::format("{}x{}x{}", a.rows, a.columns, a.dtype),
                                                 fmt::format("{}x{}", std::min(a.rows, a.columns), a.dtype)}));
  }
  return samples;
}

}  // namespace

extern const OpDef kQr = ops::decomposition({
    .name = "ingot.qr",
    .doc = "A = Q R by Householder reflections: R and, below its diagonal, their vectors; and their factors τ.",
    .infer = infer,
    .evaluate = evaluate,
    .expand = expand,
    .samples = samples,
});

}  // namespace ingot::qr_op
