// Recipes for quantized tensors: into and out of them, and arithmetic among them.
#include <algorithm>

#include "aot/graph/quantization.h"
#include "tests/support/graph_maker.h"

namespace ingot {
namespace {

// A quantized type of this shape: for the tensor, or along one of its dimensions.
TensorType quantized(GraphMaker& m, const Shape& shape) {
  static const std::vector<DType> kStorage = {DType::kI8, DType::kI8, DType::kUI8, DType::kI4, DType::kI16};
  static const std::vector<double> kScales = {0.05, 0.0625, 0.1, 0.25, 1};
  Quantization q;
  q.storage = m.random.one_of(kStorage);
  q.storage_min = least_of(q.storage);
  q.storage_max = greatest_of(q.storage);
  if (!shape.empty() && m.random.chance(0.2)) q.axis = static_cast<int>(m.random.below(std::ssize(shape)));
  for (int64_t count = q.is_per_axis() ? shape[q.axis] : 1; count > 0; --count) {
    q.scales.push_back(m.random.one_of(kScales));
    q.zero_points.push_back(std::clamp<int64_t>(m.random.below(41) - 20, q.storage_min, q.storage_max));
  }
  if (q.scales.empty()) return {DType::kF32, shape};
  return {.dtype = DType::kF32, .shape = shape, .quantization = interned(std::move(q))};
}

void uniform_quantize(GraphMaker& m) {
  Value* x = m.random.chance(0.5) ? m.any([](const TensorType& type) { return type.dtype == DType::kF32; }) : nullptr;
  if (!x) x = m.of({DType::kF32, m.shape()});
  m.make(kUniformQuantize, {x}, {}, {quantized(m, x->type.shape)});
}

void uniform_dequantize(GraphMaker& m) {
  Value* x = m.any(is_quantized);
  if (x) m.make(kUniformDequantize, {x}, {}, {expressed_type(x->type)});
}

// Of the same quantization or of several.
void quantized_arithmetic(GraphMaker& m) {
  static const std::vector<const OpDef*> kBinary = {&kAdd, &kSubtract, &kMultiply, &kMaximum, &kMinimum};
  static const std::vector<const OpDef*> kUnary = {&kAbs, &kNegate, &kTanh, &kLogistic, &kFloor};
  Value* x = m.any(is_quantized);
  if (!x) return;
  const TensorType result = m.random.chance(0.5) ? x->type : quantized(m, x->type.shape);
  if (m.random.chance(0.3)) {
    m.make(*m.random.one_of(kUnary), {x}, {}, {result});
    return;
  }
  Value* y = m.any([&](const TensorType& type) { return is_quantized(type) && type.shape == x->type.shape; });
  m.make(*m.random.one_of(kBinary), {x, y}, {}, {result});
}

// The product of two matrices, summed in i32.
void product(GraphMaker& m) {
  const auto is_matrix = [](const TensorType& type) {
    return is_quantized(type) && type.rank() == 2 && !type.quantization->is_per_axis();
  };
  Value* x = m.any(is_matrix);
  if (!x) return;
  Value* y = m.of(quantized(m, {x->type.shape[1], m.extent()}));
  ops::DotDims dims;
  dims.lhs_contract = {1};
  dims.rhs_contract = {0};
  m.make(kDotGeneral, {x, y}, {{"dot_dimension_numbers", to_attr(dims)}},
         {quantized(m, {x->type.shape[0], y->type.shape[1]})});
}

}  // namespace

std::vector<Recipe> quantized_recipes() {
  return {
      {"uniform_quantize", 0.7, uniform_quantize},
      {"uniform_dequantize", 0.4, uniform_dequantize},
      {"quantized_arithmetic", 0.7, quantized_arithmetic},
      {"quantized_product", 0.2, product},
  };
}

}  // namespace ingot
