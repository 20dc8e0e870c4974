// Quantized tensors become the integers that they are kept as. Ops on them are what StableHLO's specification says: the
// integers are dequantized, the op computes with the expressed floats, and its result is quantized. A dot_general or
// convolution sums up products of integers in i32 instead, which is the same without rounding.
#include <algorithm>

#include "aot/graph/access_map.h"
#include "aot/graph/quantization.h"
#include "aot/loops/contraction.h"
#include "aot/ops/support/algebra.h"
#include "aot/passes/pass.h"
#include "aot/passes/store_elements.h"

namespace ingot {
namespace {

bool all_zero(const std::vector<int64_t>& values) {
  return std::ranges::all_of(values, [](int64_t value) { return value == 0; });
}

// One number for each scale of a quantization, as a tensor of `type`; along dimension `axis` where there are many.
Term parameters(GraphBuilder& b, const std::vector<double>& values, const TensorType& type, int axis) {
  if (values.size() == 1) return {b, ops::constant(b, type, values[0])};
  RefTensor vector({type.dtype, {std::ssize(values)}});
  for (size_t k = 0; k < values.size(); ++k) {
    if (is_float(type.dtype)) {
      vector.f[k] = values[k];
    } else {
      vector.i[k] = static_cast<int64_t>(values[k]);
    }
  }
  return {b, ops::broadcast_in_dim(b, ops::constant(b, to_literal(vector)), type.shape, {axis})};
}

std::vector<double> as_doubles(const std::vector<int64_t>& values) { return {values.begin(), values.end()}; }

// x - zero points, in a type that holds it.
Term without_zero_points(Term x, const Quantization& q, DType dtype) {
  const Term wide = converted(x, dtype);
  if (all_zero(q.zero_points)) return wide;
  return wide - parameters(x.builder(), as_doubles(q.zero_points), {dtype, x.shape()}, q.axis);
}

// (integer - zero point) * scale
Term dequantized(Term x, const Quantization& q) {
  GraphBuilder& b = x.builder();
  const bool is_small = info(q.storage).bits <= 16;
  const Term difference = without_zero_points(x, q, is_small ? DType::kI32 : DType::kI64);
  const Term expressed = converted(difference, q.expressed);
  return expressed * parameters(b, q.scales, {q.expressed, x.shape()}, q.axis);
}

// x, scaled, + zero point, clamped to what the storage type may hold, to the nearest even integer.
Term as_integer(Term scaled, const Quantization& q) {
  GraphBuilder& b = scaled.builder();
  const DType dtype = static_cast<Value*>(scaled)->type.dtype;
  if (!all_zero(q.zero_points)) {
    scaled = scaled + parameters(b, as_doubles(q.zero_points), {dtype, scaled.shape()}, q.axis);
  }
  Value* least = ops::constant(b, {dtype, {}}, static_cast<double>(q.storage_min));
  Value* greatest = ops::constant(b, {dtype, {}}, static_cast<double>(q.storage_max));
  const Term clamped(b, b.make(kClamp, {least, scaled, greatest}));
  return converted(clamped.unary(kRoundNearestEven), q.storage);
}

Term quantized(Term x, const Quantization& q) {
  const Term expressed = converted(x, q.expressed);
  return as_integer(expressed / parameters(x.builder(), q.scales, {q.expressed, x.shape()}, q.axis), q);
}

// --- contractions of integers ----------------------------------------------------------------------------------------

// How far an integer may be from the zero point.
double reach(const Quantization& q) {
  double most = 0;
  for (const int64_t zero : q.zero_points) {
    most = std::max({most, static_cast<double>(q.storage_max - zero), static_cast<double>(zero - q.storage_min)});
  }
  return most;
}

bool is_plain(const Quantization& q) { return q.storage == DType::kI8 && all_zero(q.zero_points); }

// The product of quantized operands, scaled: sum (x - zx) (y - zy), times the scales of both. Sums are of i32, or,
// where that has them exactly, of f32, which processors multiply faster. Null where they may not fit, or scales differ
// along a dimension that is summed.
Value* contraction_of_integers(GraphBuilder& b, const Op& op, const ElementStorage::Types& types) {
  const Quantization* const x = types.operands[0].quantization.get();
  const Quantization* const y = types.operands[1].quantization.get();
  const Quantization* const to = types.results[0].quantization.get();
  if (!x || !y || !to || x->is_per_axis() || info(x->storage).bits > 8 || info(y->storage).bits > 8) return nullptr;
  const loops::Contraction contraction = op.def->contraction(op);
  const double most = reach(*x) * reach(*y) * static_cast<double>(contraction.products_in_a_sum());
  const int axis = y->is_per_axis() ? static_cast<int>(contraction.result_dim(contraction.rhs[y->axis])) : -1;
  if (most >= 0x1p31 || (y->is_per_axis() && axis < 0)) return nullptr;

  const bool is_exact_in_f32 = most <= 0x1p24;
  const DType factor = is_exact_in_f32 ? DType::kF32 : is_plain(*x) && is_plain(*y) ? DType::kI8 : DType::kI16;
  const Term lhs = without_zero_points(Term(b, op.operand(0)), *x, factor);
  const Term rhs = without_zero_points(Term(b, op.operand(1)), *y, factor);
  const Shape& shape = types.results[0].shape;
  const TensorType sum_type{is_exact_in_f32 ? DType::kF32 : DType::kI32, shape};
  const Term sums(b, b.make(*op.def, {lhs, rhs}, op.attr_map, {sum_type}));

  // A result of 32 bits has more digits than f32.
  const bool is_long = info(to->storage).bits > 16 || to->expressed == DType::kF64;
  const DType dtype = is_long ? DType::kF64 : DType::kF32;
  std::vector<double> scales;
  for (const double scale : y->scales) {
    scales.push_back(round_to(x->expressed, x->scales[0]) * round_to(y->expressed, scale));
  }
  std::vector<double> steps;
  for (const double scale : to->scales) steps.push_back(round_to(to->expressed, scale));
  const Term wide = converted(sums, dtype);
  const Term values = wide * parameters(b, scales, {dtype, shape}, axis);
  return as_integer(values / parameters(b, steps, {dtype, shape}, to->axis), *to);
}

// Whether elements keep their index along the dimension that has a scale for each of them.
bool keeps_axis(const Op& op, const TensorType& from, const TensorType& to) {
  const int axis = from.quantization->axis, new_axis = to.quantization->axis;
  if (op.def->access) return renamed_dim(op, axis) == new_axis;
  return op.def->is_elementwise && axis == new_axis;
}

class QuantizedStorage : public ElementStorage {
 public:
  bool holds(const TensorType& type) const override { return is_quantized(type); }
  TensorType stored(const TensorType& type) const override { return storage_type(type); }
  TensorType computed(const TensorType& type) const override { return expressed_type(type); }
  bool keeps_meaning(const Op& op, const TensorType& from, const TensorType& to) const override {
    return same_meaning(*from.quantization, *to.quantization) &&
           (!from.quantization->is_per_axis() || keeps_axis(op, from, to));
  }
  Value* decode(GraphBuilder& b, Value* stored, const TensorType& type) const override {
    return dequantized(Term(b, stored), *type.quantization);
  }
  Value* encode(GraphBuilder& b, Value* computed, const TensorType& type) const override {
    return quantized(Term(b, computed), *type.quantization);
  }
  bool is_conversion(const Op& op) const override { return op.is(kUniformQuantize) || op.is(kUniformDequantize); }
  Values rewrite(GraphBuilder& b, const Op& op, const Types& types) const override {
    if (!op.def->contraction) return {};
    Value* product = contraction_of_integers(b, op, types);
    return product ? Values{product} : Values{};
  }
};

}  // namespace

bool quantize_to_integers(Module& module, PassContext&) { return store_elements(module, QuantizedStorage()); }

}  // namespace ingot
