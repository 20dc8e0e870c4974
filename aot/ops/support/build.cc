#include "aot/ops/support/build.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace ingot {

namespace ops {
namespace {

// The element that changes nothing.
LiteralRef neutral(const OpDef& op, DType dtype) {
  const TensorType type{dtype, {}};
  if (op == kAdd || op == kOr) return splat_int(type, 0);
  if (op == kMultiply) return splat_int(type, 1);
  if (op == kAnd) return splat_int(type, -1);
  if (is_complex(dtype)) throw_error(nullptr, fmt::format("{} of complex numbers: they have no order", op.name));
  const bool is_max = op == kMaximum;
  if (!is_max && op != kMinimum) throw_bug("reduce: no neutral element for " + std::string(op.name));
  if (is_float(dtype)) return splat(type, is_max ? -INFINITY : INFINITY);
  if (is_bool(dtype)) return splat_int(type, is_max ? 0 : 1);
  const int bits = info(dtype).bits;
  if (is_unsigned(dtype)) return splat_int(type, is_max ? 0 : -1);
  const auto lowest = static_cast<int64_t>(~uint64_t{0} << (bits - 1));
  return splat_int(type, is_max ? lowest : ~lowest);
}

}  // namespace

Value* compare(GraphBuilder& b, std::string_view direction, Value* x, Value* y) {
  return b.make(kCompare, {x, y}, {{"comparison_direction", EnumAttr{"comparison_direction", std::string(direction)}}});
}

Value* select(GraphBuilder& b, Value* condition, Value* x, Value* y) { return b.make(kSelect, {condition, x, y}); }

Value* convert(GraphBuilder& b, Value* x, DType dtype) {
  if (x->type.dtype == dtype) return x;
  return b.make(kConvert, {x}, {}, {{dtype, x->type.shape}});
}

Value* constant(GraphBuilder& b, LiteralRef literal) {
  const TensorType type = literal->type;
  return b.make(kConstant, {}, {{"value", std::move(literal)}}, {type});
}

Value* constant(GraphBuilder& b, const TensorType& type, double value) { return constant(b, splat(type, value)); }

Value* constant_like(GraphBuilder& b, const Value* x, double value) { return constant(b, x->type, value); }

Value* zeros_like(GraphBuilder& b, const Value* x) { return constant_like(b, x, 0); }

Value* iota(GraphBuilder& b, const TensorType& type, int64_t dimension) {
  return b.make(kIota, {}, {{"iota_dimension", IntAttr{dimension}}}, {type});
}

Value* iota_from(GraphBuilder& b, const TensorType& type, int64_t dimension, Value* start) {
  const DType dtype = type.dtype;
  const bool is_exact = is_integer(dtype) ? info(dtype).bits >= 32 : dtype == DType::kF64;
  const TensorType counted{is_exact ? dtype : DType::kI64, type.shape};
  Value* first = broadcast_scalar(b, convert(b, start, counted.dtype), type.shape);
  return convert(b, add(b, iota(b, counted, dimension), first), dtype);
}

Value* broadcast_in_dim(GraphBuilder& b, Value* x, const Shape& shape, const std::vector<int64_t>& dims) {
  return b.make(kBroadcastInDim, {x}, {{"broadcast_dimensions", dims}},
                {{x->type.dtype, shape, {}, x->type.quantization}});
}

Value* broadcast_scalar(GraphBuilder& b, Value* scalar, const Shape& shape) {
  return shape.empty() ? scalar : broadcast_in_dim(b, scalar, shape, {});
}

Value* reshape(GraphBuilder& b, Value* x, const Shape& shape) {
  if (x->type.shape == shape) return x;
  return b.make(kReshape, {x}, {}, {{x->type.dtype, shape, {}, x->type.quantization}});
}

Value* transpose(GraphBuilder& b, Value* x, const std::vector<int64_t>& permutation) {
  return b.make(kTranspose, {x}, {{"permutation", permutation}});
}

Value* reverse(GraphBuilder& b, Value* x, const std::vector<int64_t>& dims) {
  return b.make(kReverse, {x}, {{"dimensions", dims}});
}

Value* slice(GraphBuilder& b, Value* x, const Shape& start, const Shape& limit, const Shape& strides) {
  return b.make(kSlice, {x}, {{"start_indices", start}, {"limit_indices", limit}, {"strides", strides}});
}

Value* pad(GraphBuilder& b, Value* x, Value* padding_value, const Shape& low, const Shape& high,
           const Shape& interior) {
  return b.make(kPad, {x, padding_value},
                {{"edge_padding_low", low}, {"edge_padding_high", high}, {"interior_padding", interior}});
}

Value* concatenate(GraphBuilder& b, const Values& xs, int64_t dimension) {
  return b.make(kConcatenate, xs, {{"dimension", IntAttr{dimension}}});
}

Value* dynamic_slice(GraphBuilder& b, Value* x, const Values& starts, const Shape& sizes) {
  Values operands{x};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return b.make(kDynamicSlice, operands, {{"slice_sizes", sizes}});
}

Value* row_of(GraphBuilder& b, Value* x, Value* index) {
  Shape sizes = x->type.shape;
  sizes[0] = 1;
  Values starts{index};
  if (sizes.size() > 1) starts.resize(sizes.size(), constant(b, index->type, 0));
  return dynamic_slice(b, x, starts, sizes);
}

Value* dynamic_update_slice(GraphBuilder& b, Value* x, Value* update, const Values& starts) {
  Values operands{x, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return b.make(kDynamicUpdateSlice, operands);
}

namespace {

// (a, b) -> result(builder, a, b), on scalars.
template <typename Result>
std::unique_ptr<Block> scalar_region(GraphBuilder& b, DType dtype, Result result) {
  auto block = std::make_unique<Block>();
  Value* x = block->add_argument({dtype, {}});
  Value* y = block->add_argument({dtype, {}});
  GraphBuilder inner;
  inner.location = b.location;
  inner.at_end(*block);
  inner.create(kStablehloReturn, {result(inner, x, y)});
  return block;
}

std::vector<std::unique_ptr<Block>> one(std::unique_ptr<Block> region) {
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::move(region));
  return regions;
}

// Whether a region by that op would round each partial result to a float narrower than f32.
bool rounds_sums(const OpDef& op, const Value* x) {
  return is_float(x->type.dtype) && info(x->type.dtype).bits < 32 && (op == kAdd || op == kMultiply);
}

}  // namespace

std::unique_ptr<Block> binary_region(GraphBuilder& b, const OpDef& op, DType dtype) {
  return scalar_region(b, dtype, [&](GraphBuilder& inner, Value* x, Value* y) { return binary(inner, op, x, y); });
}

std::unique_ptr<Block> compare_region(GraphBuilder& b, std::string_view direction, DType dtype) {
  return scalar_region(b, dtype,
                       [&](GraphBuilder& inner, Value* x, Value* y) { return compare(inner, direction, x, y); });
}

std::unique_ptr<Block> overwrite_region(GraphBuilder& b, DType dtype) {
  return scalar_region(b, dtype, [](GraphBuilder&, Value*, Value* y) { return y; });
}

Value* reduce(GraphBuilder& b, const OpDef& op, Value* x, const std::vector<int64_t>& dims) {
  if (rounds_sums(op, x)) return convert(b, reduce(b, op, convert(b, x, DType::kF32), dims), x->type.dtype);
  Value* start = constant(b, neutral(op, x->type.dtype));
  return b.create(kReduce, {x, start}, {{"dimensions", dims}}, {}, one(binary_region(b, op, x->type.dtype)))->result();
}

Value* dot_general(GraphBuilder& b, Value* lhs, Value* rhs, const DotDims& dims) {
  return b.make(kDotGeneral, {lhs, rhs}, {{"dot_dimension_numbers", to_attr(dims)}});
}

Value* convolution(GraphBuilder& b, Value* lhs, Value* rhs, const Convolution& convolution) {
  return b.make(kConvolution, {lhs, rhs}, to_attrs(convolution));
}

Value* reduce_window(GraphBuilder& b, const OpDef& op, Value* x, const Window& window) {
  if (rounds_sums(op, x)) return convert(b, reduce_window(b, op, convert(b, x, DType::kF32), window), x->type.dtype);
  Value* start = constant(b, neutral(op, x->type.dtype));
  return b.create(kReduceWindow, {x, start}, window_attrs(window), {}, one(binary_region(b, op, x->type.dtype)))
      ->result();
}

Value* select_and_scatter_add(GraphBuilder& b, std::string_view direction, Value* x, Value* source,
                              const Window& window) {
  AttrMap attrs = window_attrs(window);
  attrs.erase("base_dilations");
  attrs.erase("window_dilations");
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(compare_region(b, direction, x->type.dtype));
  regions.push_back(binary_region(b, kAdd, x->type.dtype));
  Value* start = constant(b, {x->type.dtype, {}}, 0);
  return b.create(kSelectAndScatter, {x, source, start}, std::move(attrs), {}, std::move(regions))->result();
}

Value* along_index_vectors(GraphBuilder& b, const IndexedDims& dims, const Value* indices,
                           const std::vector<int64_t>& values) {
  const TensorType& type = indices->type;
  Value* vector = constant(b, dense_ints(values, type.dtype));
  if (dims.index_vector_dim < type.rank()) return broadcast_in_dim(b, vector, type.shape, {dims.index_vector_dim});
  return broadcast_scalar(b, reshape(b, vector, {}), type.shape);
}

Value* gather(GraphBuilder& b, Value* x, Value* indices, const IndexedDims& dims, const Shape& slice_sizes) {
  return b.make(kGather, {x, indices}, gather_attrs(dims, slice_sizes));
}

Value* scatter(GraphBuilder& b, const OpDef* op, Value* x, Value* indices, Value* updates, const IndexedDims& dims) {
  const DType dtype = x->type.dtype;
  auto region = op ? binary_region(b, *op, dtype) : overwrite_region(b, dtype);
  return b.create(kScatter, {x, indices, updates}, scatter_attrs(dims), {}, one(std::move(region)))->result();
}

}  // namespace ops
}  // namespace ingot
