// Products of matrices.
#include <fmt/format.h>

#include "aot/frontend/onnx/node_args.h"
#include "aot/ops/support/index.h"

namespace ingot::onnx {

Items lower_mat_mul(NodeArgs& n) { return matmul(n.in(0), n.in(1)); }

// alpha A' B' + beta C
Items lower_gemm(NodeArgs& n) {
  const Term a = n.in(0), b = n.in(1);
  if (rank_of(a) != 2 || rank_of(b) != 2) n.fail("its operands must be matrices");
  ops::DotDims dims;
  dims.lhs_contract = {n.flag("transA") ? 0 : 1};
  dims.rhs_contract = {n.flag("transB") ? 1 : 0};
  Term y(n.b, ops::dot_general(n.b, a, b, dims));
  const double alpha = n.number("alpha", 1), beta = n.number("beta", 1);
  if (alpha != 1) y = is_float(dtype_of(y)) ? y * alpha : converted(converted(y, DType::kF64) * alpha, dtype_of(y));
  if (!n.has(2)) return y;
  Term c = n.in(2);
  if (beta != 1) c = is_float(dtype_of(c)) ? c * beta : converted(converted(c, DType::kF64) * beta, dtype_of(c));
  return y + broadcast(c, y.shape());
}

// The determinant: the product of the pivots, with the sign of the row exchanges.
Items lower_det(NodeArgs& n) {
  const Term x = n.in(0);
  const int rank = rank_of(x);
  if (rank < 2 || x.shape()[rank - 1] != x.shape()[rank - 2]) n.fail("its input must be square matrices");
  const int64_t size = x.shape()[rank - 1];
  const Op* lu = n.b.create(kLu, {x});
  const Term factors(n.b, lu->result(0)), pivots(n.b, lu->result(1));
  const TensorType places{DType::kI32, x.shape()};
  const Term on = equal(counted(x, places, rank - 2), counted(x, places, rank - 1));
  const Term product = reduce(kMultiply, where(on, factors, 1 * factors.like(1)), {rank - 2, rank - 1});
  const Term own = counted(pivots, type_of(pivots), rank_of(pivots) - 1);
  const Term signs = where(equal(pivots, own), constant(n.b, {dtype_of(x), pivots.shape()}, 1),
                           constant(n.b, {dtype_of(x), pivots.shape()}, -1));
  const Shape shape = without(x.shape(), {rank - 2, rank - 1});
  if (size == 0) return constant(n.b, {dtype_of(x), shape}, 1);
  return reshape(product, shape) * reshape(reduce(kMultiply, signs, {rank_of(signs) - 1}), shape);
}

}  // namespace ingot::onnx
