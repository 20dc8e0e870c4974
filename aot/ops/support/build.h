// Shorthand for making StableHLO ops: what gradients, passes and the tracer write with.
#pragma once

#include "aot/graph/builder.h"
#include "aot/ops/ops.h"
#include "aot/ops/support/dimension_numbers.h"

namespace ingot {

namespace ops {

// Elementwise: operands of one type (no broadcasting).
inline Value* unary(GraphBuilder& b, const OpDef& op, Value* x) { return b.make(op, {x}); }
inline Value* binary(GraphBuilder& b, const OpDef& op, Value* x, Value* y) { return b.make(op, {x, y}); }
inline Value* add(GraphBuilder& b, Value* x, Value* y) { return binary(b, kAdd, x, y); }
inline Value* subtract(GraphBuilder& b, Value* x, Value* y) { return binary(b, kSubtract, x, y); }
inline Value* multiply(GraphBuilder& b, Value* x, Value* y) { return binary(b, kMultiply, x, y); }
inline Value* divide(GraphBuilder& b, Value* x, Value* y) { return binary(b, kDivide, x, y); }
inline Value* negate(GraphBuilder& b, Value* x) { return unary(b, kNegate, x); }
Value* compare(GraphBuilder& b, std::string_view direction, Value* x, Value* y);  // "EQ" "NE" "LT" "LE" "GT" "GE"
Value* select(GraphBuilder& b, Value* condition, Value* x, Value* y);
Value* convert(GraphBuilder& b, Value* x, DType dtype);  // x itself when it has the dtype already

Value* constant(GraphBuilder& b, LiteralRef literal);
Value* constant(GraphBuilder& b, const TensorType& type, double value);  // a splat
Value* constant_like(GraphBuilder& b, const Value* x, double value);
Value* zeros_like(GraphBuilder& b, const Value* x);
Value* iota(GraphBuilder& b, const TensorType& type, int64_t dimension);
// The part of an iota from `start` (i64) on. Narrow types are counted in i64 and rounded once, as the whole iota is.
Value* iota_from(GraphBuilder& b, const TensorType& type, int64_t dimension, Value* start);

// result dimension dims[i] is operand dimension i.
Value* broadcast_in_dim(GraphBuilder& b, Value* x, const Shape& shape, const std::vector<int64_t>& dims);
Value* broadcast_scalar(GraphBuilder& b, Value* scalar, const Shape& shape);
Value* reshape(GraphBuilder& b, Value* x, const Shape& shape);  // x itself when it has the shape already
Value* transpose(GraphBuilder& b, Value* x, const std::vector<int64_t>& permutation);
Value* reverse(GraphBuilder& b, Value* x, const std::vector<int64_t>& dims);
Value* slice(GraphBuilder& b, Value* x, const Shape& start, const Shape& limit, const Shape& strides);
Value* pad(GraphBuilder& b, Value* x, Value* padding_value, const Shape& low, const Shape& high, const Shape& interior);
Value* concatenate(GraphBuilder& b, const Values& xs, int64_t dimension);
// `starts` are scalars of one integer type, one for each dimension; they are clamped so that the slice fits.
Value* dynamic_slice(GraphBuilder& b, Value* x, const Values& starts, const Shape& sizes);
Value* dynamic_update_slice(GraphBuilder& b, Value* x, Value* update, const Values& starts);
Value* row_of(GraphBuilder& b, Value* x, Value* index);  // x[index:index + 1], for an integer scalar

// Reduces `dims` with one scalar op: kAdd, kMaximum, kMinimum, kMultiply, kAnd, kOr. The start value is the op's
// neutral element. Narrow floats are summed in f32 and rounded once (a region of theirs would round each partial sum).
Value* reduce(GraphBuilder& b, const OpDef& op, Value* x, const std::vector<int64_t>& dims);

// Result: batch dims, then lhs free dims, then rhs free dims.
Value* dot_general(GraphBuilder& b, Value* lhs, Value* rhs, const DotDims& dims);

Value* convolution(GraphBuilder& b, Value* lhs, Value* rhs, const Convolution& convolution);

// Combines each window of x with kAdd, kMaximum or kMinimum, from the op's neutral element; narrow floats likewise.
Value* reduce_window(GraphBuilder& b, const OpDef& op, Value* x, const Window& window);
// Adds each element of `source` to a zero tensor like x, at the element of its window of x that wins every comparison
// ("GE": the first greatest, "LE": the first least).
Value* select_and_scatter_add(GraphBuilder& b, std::string_view direction, Value* x, Value* source,
                              const Window& window);

// A value for each component of index vectors, along all vectors of `indices`.
Value* along_index_vectors(GraphBuilder& b, const IndexedDims& dims, const Value* indices,
                           const std::vector<int64_t>& values);
Value* gather(GraphBuilder& b, Value* x, Value* indices, const IndexedDims& dims, const Shape& slice_sizes);
// Combines updates into x with one binary op, or overwrites where `op` is null.
Value* scatter(GraphBuilder& b, const OpDef* op, Value* x, Value* indices, Value* updates, const IndexedDims& dims);

// A region `(element, element) -> element` of one binary op, as reduce, scatter and reduce_window want it.
std::unique_ptr<Block> binary_region(GraphBuilder& b, const OpDef& op, DType dtype);
// A region `(a, b) -> compare direction, a, b`.
std::unique_ptr<Block> compare_region(GraphBuilder& b, std::string_view direction, DType dtype);
// A region `(a, b) -> b`.
std::unique_ptr<Block> overwrite_region(GraphBuilder& b, DType dtype);

}  // namespace ops
}  // namespace ingot
