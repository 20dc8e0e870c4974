#include "aot/frontend/stablehlo/library_calls.h"

#include "aot/ops/algebra.h"
#include "aot/ops/triangular_solve.h"
#include "aot/passes/walk.h"

namespace ingot {
namespace {

// An option of the library: a letter.
char letter(const Op& call, std::string_view name) {
  return static_cast<char>(call.attrs().dict("mhlo.backend_config").integer(name));
}

Values triangular_solve(GraphBuilder& b, const Op& call) {
  const char transpose = letter(call, "trans_x");
  return {ops::triangular_solve(b, call.operand(0), call.operand(1),
                                {.left_side = letter(call, "side") == 'L',
                                 .lower = letter(call, "uplo") == 'L',
                                 .unit_diagonal = letter(call, "diag") == 'U',
                                 .transposed = transpose != 'N',
                                 .adjoint = transpose == 'C'})};
}

// The second result is 0 where the matrix is positive definite: a pivot that is not positive spoils the last one.
Values cholesky(GraphBuilder& b, const Op& call) {
  const Shape& shape = call.operand(0)->type.shape;
  Value* y = b.make("stablehlo.cholesky", {call.operand(0)}, {{"lower", letter(call, "uplo") == 'L'}});
  Shape last(shape.size(), 0);
  for (size_t d = shape.size() - 2; d < shape.size(); ++d) last[d] = shape[d] - 1;
  const TensorType& status = call.result(1)->type;
  const Term pivot(b, ops::reshape(b, ops::slice(b, y, last, shape, Shape(shape.size(), 1)), status.shape));
  const Term is_positive = pivot > pivot.like(0);
  return {y, ops::convert(b, is_positive.unary("not"), status.dtype)};
}

struct LibraryCall {
  std::string_view target;
  size_t operands, results;
  Values (*made)(GraphBuilder& b, const Op& call);
};
constexpr LibraryCall kLibraryCalls[] = {
    {"lapack_strsm_ffi", 2, 1, triangular_solve},
    {"lapack_dtrsm_ffi", 2, 1, triangular_solve},
    {"lapack_spotrf_ffi", 1, 2, cholesky},
    {"lapack_dpotrf_ffi", 1, 2, cholesky},
};

const LibraryCall* find_library_call(const Op& op) {
  if (!op.is("stablehlo.custom_call") || op.operands.empty()) return nullptr;
  const TensorType& matrices = op.operand(0)->type;
  if (matrices.rank() < 2 || !matrices.is_static() || matrices.elements() == 0) return nullptr;
  for (const LibraryCall& call : kLibraryCalls) {
    const bool fits = call.operands == op.operands.size() && call.results == op.results.size();
    if (fits && call.target == op.attrs().string("call_target_name")) return &call;
  }
  return nullptr;
}

}  // namespace

void replace_library_calls(Module& module) {
  GraphBuilder b(all_ops());
  for_each_block(module, [&](Block& block) {
    for (auto at = block.ops.begin(); at != block.ops.end();) {
      Op* op = (at++)->get();
      const LibraryCall* call = find_library_call(*op);
      if (!call) continue;
      b.before(*op);
      b.location = op->location;
      replace_op(op, call->made(b, *op));
    }
  });
}

}  // namespace ingot
