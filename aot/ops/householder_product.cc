// ingot.householder_product: the columns of an orthogonal matrix from its reflections; LAPACK's orgqr.
#include <fmt/format.h>

#include "aot/ops/support/infer.h"
#include "aot/ops/support/matrices/householder.h"
#include "aot/ops/support/matrices/matrices.h"
#include "aot/ops/support/samples.h"

namespace ingot::householder_product_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 2);
  const TensorType &packed = args.operands[0], &taus = args.operands[1];
  ops::check_matrices(args, packed);
  const int64_t rows = packed.shape[packed.rank() - 2], columns = packed.shape.back();
  const bool fits = taus.rank() > 0 && taus == ops::with_extents(packed, {taus.shape.back()}, packed.dtype);
  if (!fits || columns > rows || taus.shape.back() > columns) {
    args.fail(
        fmt::format("{} does not fit {}: it needs a number for each reflection, of at most as many as there are "
                    "columns, and no more columns than rows",
                    to_string(taus), to_string(packed)));
  }
  return {packed};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor &packed = args.inputs[0], &taus = args.inputs[1];
  RefTensor q(args.result_type());
  const int rank = q.type.rank();
  const size_t rows = q.type.shape[rank - 2], size = rows * q.type.shape[rank - 1], count = taus.type.shape.back();
  for (size_t k = 0; size > 0 && k < q.f.size() / size; ++k) {
    ops::multiply_reflections(std::span(packed.f).subspan(k * size, size), std::span(taus.f).subspan(k * count, count),
                              rows, std::span(q.f).subspan(k * size, size));
  }
  return {q};
}

// Of Q = 1 - V T Vᵀ the first n columns, to which only the first n rows of V belong.
Values expand(ExpandArgs& args) {
  GraphBuilder& b = args.b;
  Value* packed = args.operand(0);
  Value* taus = args.operand(1);
  const int64_t count = taus->type.shape.back(), columns = packed->type.shape.back();
  Value* v = ops::reflection_vectors(b, packed, count);
  Value* first = ops::block(b, v, {0, columns}, {0, count});
  const Term part(b, ops::reflected_part(b, v, taus, ops::transposed(b, first), false));
  return {converted(ops::is_diagonal(b, part.shape()), packed->type.dtype) - part};
}

std::vector<Sample> samples() {
  const auto sample = [](const std::string& batch, int rows, int columns, int count, const std::string& dtype) {
    const std::string packed = fmt::format("tensor<{}{}x{}x{}>", batch, rows, columns, dtype);
    const std::string taus = fmt::format("tensor<{}{}x{}>", batch, count, dtype);
    return Sample{.text = ops::single_op(
                      "%a: " + packed + ", %t: " + taus,
                      fmt::format("\"ingot.householder_product\"(%a, %t) : ({0}, {1}) -> {0}", packed, taus), packed),
                  .low = -0.1,
                  .high = 0.1,
                  .differentiable = false};
  };
  return {
      sample("", 1, 1, 1, "f32"),   sample("", 5, 5, 5, "f64"),   sample("2x3x", 6, 4, 4, "f32"),
      sample("2x", 7, 7, 3, "f64"), sample("2x", 5, 3, 0, "f32"), sample("", 70, 66, 66, "f32"),
      sample("", 9, 9, 6, "f64"),   sample("0x", 3, 3, 3, "f32"),
  };
}

}  // namespace

extern const OpDef kHouseholderProduct = ops::decomposition({
    .name = "ingot.householder_product",
    .doc = "The first columns of H₁ H₂ ⋯ for Householder reflections as `ingot.qr` gives them: vectors and factors τ.",
    .infer = infer,
    .evaluate = evaluate,
    .expand = expand,
    .samples = samples,
});

}  // namespace ingot::householder_product_op
