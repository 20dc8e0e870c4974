// Ops that make tensors from attributes and known numbers.
#include <fmt/format.h>

#include <cmath>

#include "aot/frontend/onnx/graph_importer.h"
#include "aot/frontend/onnx/node_args.h"
#include "aot/frontend/onnx/read_model.h"

namespace ingot::onnx {
namespace {

Term vector_of(NodeArgs& n, const std::vector<int64_t>& values) {
  return onnx::integers(n.b, {DType::kI64, {std::ssize(values)}}, values);
}

Term vector_of(NodeArgs& n, const std::vector<double>& values) {
  return onnx::floats(n.b, {DType::kF32, {std::ssize(values)}}, values);
}

void check_sizes(NodeArgs& n, const Shape& shape) {
  int64_t elements = 1;
  for (const int64_t size : shape) {
    if (size < 0) n.fail(fmt::format("a dimension of {}", size));
    if (size && elements > (int64_t{1} << 40) / size) n.fail("more than 2^40 elements");
    elements *= size;
  }
}

}  // namespace

Items lower_constant(NodeArgs& n) {
  if (const Attribute* value = n.find("value"); value && value->tensor) {
    return Term(n.b, ops::constant(n.b, literal_of(*value->tensor, &n.importer.model())));
  }
  if (n.has("value_float")) return constant(n.b, {DType::kF32, {}}, n.number("value_float", 0));
  if (n.has("value_int")) return onnx::integers(n.b, {DType::kI64, {}}, {n.integer("value_int")});
  if (n.has("value_floats")) return vector_of(n, n.numbers("value_floats"));
  if (n.has("value_ints")) return vector_of(n, n.integers("value_ints"));
  if (n.has("sparse_value")) n.limit("sparse tensors are not supported; make it dense");
  n.limit("it is of strings, which ingot does not compute with; map strings to numbers before the model");
}

Items lower_constant_of_shape(NodeArgs& n) {
  const Shape shape = n.known_integers(0);
  check_sizes(n, shape);
  const Attribute* value = n.find("value");
  if (!value || !value->tensor) return constant(n.b, {DType::kF32, shape}, 0);
  const LiteralRef literal = literal_of(*value->tensor, &n.importer.model());
  if (literal->type.elements() != 1) n.fail("its value must be one element");
  const Term element(n.b, ops::constant(n.b, dense({literal->type.dtype, {}}, literal->data)));
  return broadcast(element, shape);
}

// Ones on the diagonal k.
Items lower_eye_like(NodeArgs& n) {
  const Term x = n.in(0);
  if (rank_of(x) != 2) n.fail("its input must have two dimensions");
  const TensorType places{DType::kI32, x.shape()};
  const Term row = counted(x, places, 0), column = counted(x, places, 1);
  const Term on = equal(row + static_cast<double>(n.integer("k", 0)), column);
  return converted(on, n.dtype("dtype", dtype_of(x)));
}

Items lower_range(NodeArgs& n) {
  const RefTensor start = n.known(0), limit = n.known(1), delta = n.known(2);
  const DType dtype = start.type.dtype;
  if (n.integer("stash_type", 1) != 1) n.limit("stash_type: 1, f32, is supported");
  if (start.elements() != 1 || limit.elements() != 1 || delta.elements() != 1) n.fail("its inputs must be scalars");
  if (limit.type.dtype != dtype || delta.type.dtype != dtype) n.fail("its inputs must be of one type");
  if (start.is_float()) {
    if (delta.f[0] == 0) n.fail("its step is 0");
    const double count = std::max(0.0, std::ceil((limit.f[0] - start.f[0]) / delta.f[0]));
    if (!(count < (1 << 28))) n.fail("it has more than 2^28 elements");
    const TensorType type{dtype, {static_cast<int64_t>(count)}};
    const DType wide = dtype == DType::kF64 ? DType::kF64 : DType::kF32;
    const Term steps = converted(counted(n.in(0), {DType::kI32, type.shape}, 0), wide);
    return converted(steps * delta.f[0] + start.f[0], dtype);
  }
  if (delta.i[0] == 0) n.fail("its step is 0");
  const double count = std::max(0.0, std::ceil((static_cast<double>(limit.i[0]) - static_cast<double>(start.i[0])) /
                                               static_cast<double>(delta.i[0])));
  if (!(count < (1 << 28))) n.fail("it has more than 2^28 elements");
  const TensorType type{dtype, {static_cast<int64_t>(count)}};
  const Term step = onnx::integers(n.b, {dtype, {}}, delta.i), first = onnx::integers(n.b, {dtype, {}}, start.i);
  return counted(n.in(0), type, 0) * broadcast(step, type.shape) + broadcast(first, type.shape);
}

Items lower_one_hot(NodeArgs& n) {
  Term indices = n.in(0);
  const double given = n.known_number(1);
  if (!(given >= 0 && given <= (1 << 28))) n.fail(fmt::format("a depth of {}", given));
  const auto depth = static_cast<int64_t>(given);
  const int rank = rank_of(indices) + 1;
  const int64_t axis = n.axis(n.integer("axis", -1), rank);
  if (is_float(dtype_of(indices))) indices = converted(indices, DType::kI64);
  indices = from_end(indices, depth);
  Shape shape = indices.shape();
  shape.insert(shape.begin() + axis, depth);
  const Term places = counted(indices, {dtype_of(indices), shape}, axis);
  const Term on = equal(broadcast(unsqueeze(indices, axis), shape), places);
  const Term values = n.in(2);
  const auto value = [&](int64_t i) { return broadcast(at_index(values, 0, i), shape); };
  return where(on, value(1), value(0));
}

Items lower_trilu(NodeArgs& n) {
  const Term x = n.in(0);
  const int rank = rank_of(x);
  if (rank < 2) n.fail("its input must have two dimensions at least");
  const Shape matrix(x.shape().end() - 2, x.shape().end());
  const auto shift = static_cast<double>(std::clamp<int64_t>(n.known_integer(1, 0), -(1 << 28), 1 << 28));
  const Term row = counted(x, {DType::kI32, matrix}, 0) + shift, column = counted(x, {DType::kI32, matrix}, 1);
  const Term kept = n.flag("upper", true) ? column >= row : column <= row;
  return where(broadcast(kept, x.shape()), x, x.like(0));
}

}  // namespace ingot::onnx
