// Shorthand for making StableHLO ops: what gradients, passes and the tracer write with.
#pragma once

#include "aot/graph/builder.h"

namespace ingot {

// Every op of ops.def.
const OpTable& all_ops();

namespace ops {

// Elementwise: operands of one type (no broadcasting).
Value* unary(GraphBuilder& b, std::string_view name, Value* x);  // unary(b, "tanh", x) makes stablehlo.tanh
Value* binary(GraphBuilder& b, std::string_view name, Value* x, Value* y);
inline Value* add(GraphBuilder& b, Value* x, Value* y) { return binary(b, "add", x, y); }
inline Value* subtract(GraphBuilder& b, Value* x, Value* y) { return binary(b, "subtract", x, y); }
inline Value* multiply(GraphBuilder& b, Value* x, Value* y) { return binary(b, "multiply", x, y); }
inline Value* divide(GraphBuilder& b, Value* x, Value* y) { return binary(b, "divide", x, y); }
inline Value* negate(GraphBuilder& b, Value* x) { return unary(b, "negate", x); }
Value* compare(GraphBuilder& b, std::string_view direction, Value* x, Value* y);  // "EQ" "NE" "LT" "LE" "GT" "GE"
Value* select(GraphBuilder& b, Value* condition, Value* x, Value* y);
Value* convert(GraphBuilder& b, Value* x, DType dtype);  // x itself when it has the dtype already

Value* constant(GraphBuilder& b, LiteralRef literal);
Value* constant(GraphBuilder& b, const TensorType& type, double value);  // a splat
Value* constant_like(GraphBuilder& b, const Value* x, double value);
Value* zeros_like(GraphBuilder& b, const Value* x);
Value* iota(GraphBuilder& b, const TensorType& type, int64_t dimension);

// result dimension dims[i] is operand dimension i.
Value* broadcast_in_dim(GraphBuilder& b, Value* x, const Shape& shape, const std::vector<int64_t>& dims);
Value* broadcast_scalar(GraphBuilder& b, Value* scalar, const Shape& shape);
Value* reshape(GraphBuilder& b, Value* x, const Shape& shape);  // x itself when it has the shape already
Value* transpose(GraphBuilder& b, Value* x, const std::vector<int64_t>& permutation);
Value* reverse(GraphBuilder& b, Value* x, const std::vector<int64_t>& dims);
Value* slice(GraphBuilder& b, Value* x, const Shape& start, const Shape& limit, const Shape& strides);
Value* pad(GraphBuilder& b, Value* x, Value* padding_value, const Shape& low, const Shape& high, const Shape& interior);
Value* concatenate(GraphBuilder& b, const Values& xs, int64_t dimension);

// Reduces `dims` with one scalar op: "add", "maximum", "minimum", "multiply", "and", "or". The start value is the op's
// neutral element.
Value* reduce(GraphBuilder& b, std::string_view op, Value* x, const std::vector<int64_t>& dims);

struct DotDims {
  std::vector<int64_t> lhs_batch, rhs_batch, lhs_contract, rhs_contract;
};
// Result: batch dims, then lhs free dims, then rhs free dims.
Value* dot_general(GraphBuilder& b, Value* lhs, Value* rhs, const DotDims& dims);

// A region `(element, element) -> element` of one binary op, as reduce, scatter and reduce_window want it.
std::unique_ptr<Block> binary_region(GraphBuilder& b, std::string_view op, DType dtype);

}  // namespace ops
}  // namespace ingot
