#include "aot/frontend/stablehlo/library_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/analysis/walk.h"
#include "aot/ops/support/matrices/lu.h"
#include "aot/ops/support/matrices/matrices.h"
#include "aot/ops/support/matrices/triangular_solve.h"

namespace ingot {
namespace {

const std::string& target_of(const Op& op) { return op.attrs().string("call_target_name"); }

// An option of the library: a letter. JAX writes options in an attribute of its own, beside an empty backend_config.
char letter(const Op& call, std::string_view name) {
  const std::string_view config =
      call.attr_map.contains("mhlo.backend_config") ? "mhlo.backend_config" : "backend_config";
  return static_cast<char>(call.attrs().dict(config).integer(name));
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
  Value* y = b.make(kCholesky, {call.operand(0)}, {{"lower", letter(call, "uplo") == 'L'}});
  Shape last(shape.size(), 0);
  for (size_t d = shape.size() - 2; d < shape.size(); ++d) last[d] = shape[d] - 1;
  const TensorType& status = call.result(1)->type;
  const Term pivot(b, ops::reshape(b, ops::slice(b, y, last, shape, Shape(shape.size(), 1)), status.shape));
  const Term is_positive = pivot > pivot.like(0);
  return {y, ops::convert(b, is_positive.unary(kNot), status.dtype)};
}

// The third result is the number, from 1 on, of the first pivot that is 0; else 0.
Values lu(GraphBuilder& b, const Op& call) {
  const Op* made = b.create(kLu, {call.operand(0)});
  const Term factors(b, made->result()), pivots(b, made->result(1));
  const Shape& shape = factors.shape();
  const int64_t rank = std::ssize(shape);
  const Term is_zero = both(ops::is_diagonal(b, shape), equal(factors, factors.like(0)));
  const Term none(b, ops::constant(b, {DType::kI32, shape}, static_cast<double>(shape.back() + 1)));
  const Term numbers = where(is_zero, ops::row_numbers(b, shape) + 1, none);
  const Term first(b, ops::reduce(b, kMinimum, numbers, {rank - 2, rank - 1}));
  return {factors, pivots + 1, where(first > first.like(static_cast<double>(shape.back())), 0.0, first)};
}

Values qr(GraphBuilder& b, const Op& call) {
  const Op* made = b.create(kQr, {call.operand(0)});
  return {made->result(0), made->result(1)};
}

Values householder_product(GraphBuilder& b, const Op& call) { return {b.make(kHouseholderProduct, call.operands)}; }

// The last result says that all went well: what does not converge, NaN, stays NaN.
Values eigh(GraphBuilder& b, const Op& call) {
  const Op* made = b.create(kEigh, {call.operand(0)}, {{"lower", letter(call, "uplo") == 'L'}});
  return {made->result(1), made->result(0), ops::constant(b, call.result(2)->type, 0)};
}

// Orthonormal columns [..., m, n] and more of them: [..., m, m].
Value* completed(GraphBuilder& b, Value* q) {
  const int rank = q->type.rank();
  const int64_t rows = q->type.shape[rank - 2], columns = q->type.shape[rank - 1];
  if (rows == columns) return q;
  const Op* qr = b.create(kQr, {q});
  const TensorType missing = ops::with_extents(q->type, {rows, rows - columns}, q->type.dtype);
  Value* wide = ops::concatenate(b, {qr->result(0), ops::constant(b, missing, 0)}, rank - 1);
  Value* all = b.make(kHouseholderProduct, {wide, qr->result(1)});
  return ops::concatenate(b, {q, ops::block(b, all, {0, rows}, {columns, rows})}, rank - 1);
}

// The first result is what is left of the operand, which nobody reads; with job N nobody reads the vectors either.
Values svd(GraphBuilder& b, const Op& call) {
  const Op* made = b.create(kSvd, {call.operand(0)});
  Value *u = made->result(0), *vt = made->result(2);
  const char job = letter(call, "mode");
  if (job == 'A') {
    u = completed(b, u);
    vt = ops::transposed(b, completed(b, ops::transposed(b, vt)));
  } else if (job == 'N') {
    u = ops::constant(b, call.result(2)->type, 0);
    vt = ops::constant(b, call.result(3)->type, 0);
  }
  return {call.operand(0), made->result(1), u, vt, ops::constant(b, call.result(4)->type, 0)};
}

// Pivots from 0 on.
Values permutation_of_pivots(GraphBuilder& b, const Op& call) {
  return {ops::permutation_of_pivots(b, call.operand(0), call.result()->type.shape.back())};
}

bool is_empty(const Op& call) { return call.result()->type.elements() == 0; }

// Of matrices without elements, or of no matrices: LAPACK says that all went well.
Values nothing(GraphBuilder& b, const Op& call) {
  Values made;
  for (const Value* result : results_of(call)) made.push_back(ops::constant(b, result->type, 0));
  return made;
}

// A function of LAPACK goes by its name without the letter of the element type.
struct LibraryCall {
  std::string_view name;
  int rank;  // of the first operand and the first result, at least
  size_t operands, results;
  Values (*made)(GraphBuilder& b, const Op& call);
};
constexpr LibraryCall kLibraryCalls[] = {
    {"trsm", 2, 2, 1, triangular_solve},
    {"potrf", 2, 1, 2, cholesky},
    {"getrf", 2, 1, 3, lu},
    {"geqrf", 2, 1, 2, qr},
    {"orgqr", 2, 2, 1, householder_product},
    {"syevd", 2, 1, 3, eigh},
    {"gesdd", 2, 1, 5, svd},
    {"lu_pivots_to_permutation", 1, 1, 1, permutation_of_pivots},
};

// "getrf" of "lapack_sgetrf_ffi" and "lapack_dgetrf_ffi"; other targets as they are.
std::string_view name_of(std::string_view target) {
  constexpr std::string_view kEnd = "_ffi";
  for (const std::string_view start : {"lapack_s", "lapack_d"}) {
    if (!target.starts_with(start) || !target.ends_with(kEnd)) continue;
    target.remove_prefix(start.size());
    target.remove_suffix(kEnd.size());
    break;
  }
  return target;
}

const LibraryCall* find_library_call(const Op& op) {
  if (!op.is(kCustomCall)) return nullptr;
  const auto* call = std::ranges::find(kLibraryCalls, name_of(target_of(op)), &LibraryCall::name);
  if (call == std::end(kLibraryCalls)) return nullptr;
  if (call->operands != op.operands.size() || call->results != op.results.size()) return nullptr;
  const auto is_known = [&](const TensorType& type) { return type.rank() >= call->rank && type.is_static(); };
  if (!is_known(op.operand(0)->type) || !is_known(op.result()->type)) return nullptr;
  const auto is_nothing = [](const Value* value) { return !is_float(value->type.dtype) || !value->type.elements(); };
  return !is_empty(op) || std::ranges::all_of(results_of(op), is_nothing) ? call : nullptr;
}

}  // namespace

void replace_library_calls(Module& module) {
  GraphBuilder b;
  for_each_block(module, [&](Block& block) {
    for (auto at = block.ops.begin(); at != block.ops.end();) {
      Op* op = (at++)->get();
      const LibraryCall* call = find_library_call(*op);
      if (!call) continue;
      b.before(*op);
      b.location = op->location;
      const Values made = is_empty(*op) ? nothing(b, *op) : call->made(b, *op);
      for (int i = 0; i < static_cast<int>(made.size()); ++i) {
        if (made[i]->type == op->result(i)->type) continue;
        throw_error(op->location, fmt::format("custom_call @{}: result {} is {}, not {}", target_of(*op), i,
                                              to_string(made[i]->type), to_string(op->result(i)->type)));
      }
      replace_op(op, made);
    }
  });
}

}  // namespace ingot
