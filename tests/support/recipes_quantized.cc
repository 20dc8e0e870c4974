// Recipes for quantized tensors: into and out of them, and arithmetic among them; and for products of bytes.
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

// Bytes less a zero point, as numbers of i32: a constant one, one that is given, or none.
Value* centred_bytes(GraphMaker& m, const Shape& shape) {
  const DType dtype = m.random.chance(0.5) ? DType::kUI8 : DType::kI8;
  const TensorType bytes{dtype, shape}, zero{dtype, {}};
  Value* x = ops::convert(m.b, m.random.chance(0.4) ? m.constant(bytes) : m.of(bytes), DType::kI32);
  if (m.random.chance(0.3)) return x;
  Value* z = m.random.chance(0.5) ? m.constant(zero) : m.of(zero);
  return ops::subtract(m.b, x, ops::broadcast_scalar(m.b, ops::convert(m.b, z, DType::kI32), shape));
}

// The same in f32, by powers of two: a scale for all, or one for each index of a dimension. What is summed of such is exact.
Value* scaled_bytes(GraphMaker& m, const Shape& shape) {
  static const std::vector<double> kScales = {0.0625, 0.125, 0.25, 0.5};
  Value* x = ops::convert(m.b, centred_bytes(m, shape), DType::kF32);
  if (m.random.chance(0.5)) return ops::multiply(m.b, x, ops::constant(m.b, x->type, m.random.one_of(kScales)));
  const int64_t dim = m.random.below(std::ssize(shape));
  RefTensor scales(TensorType{DType::kF32, {shape[dim]}});
  for (double& scale : scales.f) scale = m.random.one_of(kScales);
  Value* along = ops::constant(m.b, to_literal(scales));
  return ops::multiply(m.b, x, ops::broadcast_in_dim(m.b, along, shape, {dim}));
}

void product_of_bytes(GraphMaker& m) {
  const int64_t depth = m.random.one_of(std::vector<int64_t>{2, 3, 4, 5, 8, 13});
  ops::DotDims dims;
  dims.lhs_contract = {m.random.below(2)};
  dims.rhs_contract = {m.random.below(2)};
  const auto matrix = [&](int64_t along) { return along == 0 ? Shape{depth, m.extent()} : Shape{m.extent(), depth}; };
  const auto bytes = m.random.chance(0.5) ? centred_bytes : scaled_bytes;
  Value* x = bytes(m, matrix(dims.lhs_contract[0]));
  ops::dot_general(m.b, x, bytes(m, matrix(dims.rhs_contract[0])), dims);
}

void convolution_of_bytes(GraphMaker& m) {
  const int64_t groups = m.random.chance(0.3) ? 2 : 1, features = m.random.one_of(std::vector<int64_t>{1, 3, 4, 6, 8});
  const int64_t length = 3 + m.random.below(6);
  ops::Convolution conv;
  conv.dims = {0, 1, {2}, 1, 0, {2}, 0, 1, {2}};
  conv.feature_groups = groups;
  conv.window = {{.size = 1 + m.random.below(3),
                  .stride = 1 + m.random.below(2),
                  .low = m.random.below(3) - 1,
                  .high = m.random.below(3) - 1,
                  .base_dilation = m.random.chance(0.2) ? 2 : 1}};
  const auto bytes = m.random.chance(0.5) ? centred_bytes : scaled_bytes;
  Value* x = bytes(m, {m.extent(), groups * features, length});
  ops::convolution(m.b, x, bytes(m, {groups * m.extent(), features, conv.window[0].size}), conv);
}

}  // namespace

std::vector<Recipe> quantized_recipes() {
  return {
      {"uniform_quantize", 0.7, uniform_quantize},         {"uniform_dequantize", 0.4, uniform_dequantize},
      {"quantized_arithmetic", 0.7, quantized_arithmetic}, {"quantized_product", 0.2, product},
      {"product_of_bytes", 0.2, product_of_bytes},         {"convolution_of_bytes", 0.2, convolution_of_bytes},
  };
}

}  // namespace ingot
