#include "tests/support/narrow_positions.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tests/support/random_graph.h"

namespace ingot {
namespace {

constexpr int64_t kElementsMax = 60000;  // of a tensor

bool is_small(const Shape& shape) { return element_count(shape) <= kElementsMax; }

// Combine exactly in any order.
const OpDef& order_free_op(Random& random, DType dtype) {
  static const std::vector<const OpDef*> kOfFloats = {&kMaximum, &kMinimum};
  static const std::vector<const OpDef*> kOfIntegers = {&kAdd, &kAdd, &kMaximum, &kMinimum};
  return *random.one_of(is_float(dtype) ? kOfFloats : kOfIntegers);
}

}  // namespace

PositionMaker::PositionMaker(Random& random, Function& function) : random(random), function_(function) {
  b.at_end(function.body);
}

DType PositionMaker::narrow_dtype() {
  static const std::vector<DType> kDTypes = {DType::kBF16,   DType::kBF16, DType::kBF16, DType::kBF16, DType::kBF16,
                                             DType::kF16,    DType::kI8,   DType::kI8,   DType::kUI8,  DType::kUI8,
                                             DType::kI16,    DType::kUI16, DType::kI4,   DType::kUI4,  DType::kF16,
                                             DType::kF8E5M2, DType::kBF16};
  return random.one_of(kDTypes);
}

DType PositionMaker::index_dtype() {
  static const std::vector<DType> kDTypes = {DType::kI8, DType::kUI8, DType::kI16, DType::kUI16, DType::kI32};
  return random.one_of(kDTypes);
}

int64_t PositionMaker::long_extent() {
  static const std::vector<int64_t> kExtents = {257, 300, 315, 320, 331, 375, 405, 495, 512, 525, 567,  585,  600,
                                                625, 675, 693, 735, 768, 825, 855, 945, 975, 999, 1000, 1035, 1095};
  static const std::vector<int64_t> kBeyondF16 = {2079, 2310, 3003, 4100};
  return random.one_of(random.chance(0.04) ? kBeyondF16 : kExtents);
}

Value* PositionMaker::argument(const TensorType& type) {
  RefTensor example = random_tensor(type, random);
  for (int64_t& x : example.i) x = wrap_to(type.dtype, random.below(1 << 17));
  Value* value = function_.body.add_argument(type);
  function_.argument_attrs.emplace_back();
  set_example(function_, function_.argument_count() - 1, example);
  return value;
}

Value* PositionMaker::constant(const TensorType& type) {
  static const std::vector<double> kNumbers = {1, 2, 3, 5, 7, 16, 64, 100, 127, 128, 255, 256, 257, 300, 0.5, -1};
  const double number = random.one_of(kNumbers);
  if (is_float(type.dtype)) return ops::constant(b, type, number);
  return ops::constant(b, splat_int(type, wrap_to(type.dtype, static_cast<int64_t>(number))));
}

Value* PositionMaker::positions(const TensorType& type, int depth) {
  if (depth == 0 || type.rank() == 0 || !is_small(type.shape)) return leaf(type);
  using Make = Value* (PositionMaker::*)(const TensorType&, int);
  static const std::vector<Make> kElementwise = {&PositionMaker::combined, &PositionMaker::combined,
                                                 &PositionMaker::converted, &PositionMaker::chosen};
  static const std::vector<Make> kOthers = {&PositionMaker::moved,   &PositionMaker::cut,     &PositionMaker::padded,
                                            &PositionMaker::joined,  &PositionMaker::renamed, &PositionMaker::indexed,
                                            &PositionMaker::reduced, &PositionMaker::windows};
  const bool is_elementwise = is_plain_ || random.chance(0.4);
  return (this->*random.one_of(is_elementwise ? kElementwise : kOthers))(type, depth - 1);
}

Value* PositionMaker::leaf(const TensorType& type) {
  if (type.rank() == 0) return random.chance(0.5) ? constant(type) : argument(type);
  const int64_t longest = std::ranges::max_element(type.shape) - type.shape.begin();
  const int64_t dim = random.chance(0.75) ? longest : any_dim(type.shape);
  if (random.chance(0.6)) return ops::iota(b, type, dim);
  return ops::broadcast_in_dim(b, ops::iota(b, {type.dtype, {type.shape[dim]}}, 0), type.shape, {dim});
}

Value* PositionMaker::combined(const TensorType& type, int depth) {
  static const std::vector<const OpDef*> kOps = {&kAdd,      &kAdd,     &kSubtract, &kSubtract,
                                                 &kMultiply, &kMaximum, &kMinimum};
  Value* x = positions(type, depth);
  if (random.chance(0.1) && !is_unsigned(type.dtype)) x = ops::unary(b, random.chance(0.5) ? kNegate : kAbs, x);
  const double kind = random.uniform();
  Value* y = kind < 0.5   ? constant(type)
             : kind < 0.7 ? ops::broadcast_scalar(b, argument({type.dtype, {}}), type.shape)
                          : positions(type, depth);
  return random.chance(0.8) ? ops::binary(b, *random.one_of(kOps), x, y) : ops::binary(b, kSubtract, y, x);
}

Value* PositionMaker::converted(const TensorType& type, int depth) {
  static const std::vector<DType> kWide = {DType::kI32, DType::kI64, DType::kF32, DType::kUI32};
  const DType from = random.chance(0.4) ? random.one_of(kWide) : narrow_dtype();
  return ops::convert(b, positions({from, type.shape}, depth), type.dtype);
}

Value* PositionMaker::chosen(const TensorType& type, int depth) {
  return ops::select(b, mask(type.shape), positions(type, depth), positions(type, depth));
}

Value* PositionMaker::moved(const TensorType& type, int depth) {
  std::vector<int64_t> order(type.rank());
  std::iota(order.begin(), order.end(), 0);
  if (type.rank() < 2 || random.chance(0.4)) return ops::reverse(b, positions(type, depth), {any_dim(type.shape)});
  std::swap(order[0], order[1 + random.below(type.rank() - 1)]);  // the inverse of itself
  Shape shape;
  for (const int64_t dim : order) shape.push_back(type.shape[dim]);
  return ops::transpose(b, positions({type.dtype, shape}, depth), order);
}

Value* PositionMaker::cut(const TensorType& type, int depth) {
  const int64_t dim = any_dim(type.shape), extent = type.shape[dim], stride = 1 + random.below(3) / 2;
  Shape whole = type.shape, start(whole.size(), 0), strides(whole.size(), 1);
  start[dim] = random.below(40);
  strides[dim] = stride;
  Shape limit = whole;
  limit[dim] = start[dim] + (extent - 1) * stride + 1;
  whole[dim] = limit[dim] + random.below(8);
  if (!is_small(whole)) return leaf(type);
  Value* x = positions({type.dtype, whole}, depth);
  if (random.chance(0.5)) return ops::slice(b, x, start, limit, strides);
  const TensorType index{index_dtype(), {}};
  Values starts(whole.size(), ops::constant(b, splat_int(index, 0)));
  starts[dim] = random.chance(0.5) ? argument(index) : constant(index);
  return ops::dynamic_slice(b, x, starts, type.shape);
}

Value* PositionMaker::padded(const TensorType& type, int depth) {
  const int64_t dim = any_dim(type.shape), extent = type.shape[dim];
  Shape inner = type.shape, low(inner.size(), 0), high = low, interior = low;
  low[dim] = random.below(std::min<int64_t>(extent, 20)) - (random.chance(0.2) ? 10 : 0);
  high[dim] = random.below(std::max<int64_t>(1, std::min<int64_t>(extent - low[dim], 20)));
  inner[dim] = extent - low[dim] - high[dim];
  if (inner[dim] > 3 && random.chance(0.2)) {
    interior[dim] = 1;
    high[dim] += 1 - inner[dim] % 2;
    inner[dim] = (extent - low[dim] - high[dim] + 1) / 2;
  }
  if (inner[dim] < 1) return leaf(type);
  return ops::pad(b, positions({type.dtype, inner}, depth), constant({type.dtype, {}}), low, high, interior);
}

Value* PositionMaker::joined(const TensorType& type, int depth) {
  const int64_t dim = any_dim(type.shape), extent = type.shape[dim];
  if (extent < 2) return leaf(type);
  TensorType first = type, second = type;
  first.shape[dim] = 1 + random.below(extent - 1);
  second.shape[dim] = extent - first.shape[dim];
  return ops::concatenate(b, {positions(first, depth), positions(second, depth)}, dim);
}

Value* PositionMaker::renamed(const TensorType& type, int depth) {
  if (random.chance(0.5)) return ops::reshape(b, positions({type.dtype, {type.elements()}}, depth), type.shape);
  Shape small;
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < type.rank(); ++d) {
    if (random.chance(0.4)) continue;
    small.push_back(type.shape[d]);
    dims.push_back(d);
  }
  return ops::broadcast_in_dim(b, positions({type.dtype, small}, depth), type.shape, dims);
}

// Rows of a table of positions at positions, or a part overwritten at one.
Value* PositionMaker::indexed(const TensorType& type, int depth) {
  const TensorType index{index_dtype(), {}};
  if (random.chance(0.5)) {
    TensorType part = type;
    for (int64_t& extent : part.shape) extent = 1 + random.below(extent);
    Values starts;
    for (int d = 0; d < type.rank(); ++d) starts.push_back(random.chance(0.5) ? constant(index) : argument(index));
    return ops::dynamic_update_slice(b, positions(type, depth), positions(part, depth), starts);
  }
  Shape table = type.shape, sizes = table;
  table[0] = random.chance(0.7) ? long_extent() : short_extent();
  if (!is_small(table)) return leaf(type);
  sizes[0] = 1;
  ops::IndexedDims dims;
  for (int64_t d = 1; d < type.rank(); ++d) dims.window_dims.push_back(d);
  dims.dropped_dims = dims.index_map = {0};
  dims.index_vector_dim = 1;
  Value* at = positions({index.dtype, {type.shape[0], 1}}, depth);
  return ops::gather(b, positions({type.dtype, table}, depth), at, dims, sizes);
}

Value* PositionMaker::reduced(const TensorType& type, int depth) {
  Shape shape = type.shape;
  const int64_t dim = random.below(type.rank() + 1);
  shape.insert(shape.begin() + dim, 1 + random.below(5));
  if (!is_small(shape)) return leaf(type);
  return ops::reduce(b, order_free_op(random, type.dtype), positions({type.dtype, shape}, depth), {dim});
}

Value* PositionMaker::windows(const TensorType& type, int depth) {
  const int64_t dim = any_dim(type.shape);
  ops::Window window(type.rank());
  const bool is_running = type.elements() < 2000 && random.chance(0.4);
  window[dim].size = is_running ? type.shape[dim] : 2 + random.below(3);
  (random.chance(0.5) ? window[dim].low : window[dim].high) = window[dim].size - 1;
  return ops::reduce_window(b, order_free_op(random, type.dtype), positions(type, depth), window);
}

Value* PositionMaker::mask(const Shape& shape) {
  static const std::vector<const char*> kDirections = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  const bool is_within = std::exchange(is_plain_, is_plain_ || random.chance(0.6));
  const TensorType type{narrow_dtype(), shape};
  Value* x = positions(type, static_cast<int>(random.below(3)));
  Value* y = random.chance(0.3) ? constant(type) : positions(type, static_cast<int>(random.below(3)));
  is_plain_ = is_within;
  return ops::compare(b, random.one_of(kDirections), x, y);
}

Value* PositionMaker::factor(const Shape& shape) {
  const auto full = [&](DType dtype, double value) { return ops::constant(b, {dtype, shape}, value); };
  if (random.chance(0.2)) return ops::select(b, mask(shape), full(DType::kF32, 1.5), full(DType::kF32, -0.25));
  is_plain_ = random.chance(0.6);
  Value* x = positions(shape);
  is_plain_ = false;
  if (random.chance(0.3)) {
    Value* scaled = ops::multiply(b, ops::convert(b, x, DType::kF32), full(DType::kF32, 0x1p-8));
    return ops::binary(b, kMaximum, ops::binary(b, kMinimum, scaled, full(DType::kF32, 4)), full(DType::kF32, -4));
  }
  Value* whole = ops::convert(b, x, DType::kI32);
  if (random.chance(0.4)) whole = ops::multiply(b, whole, full(DType::kI32, 37));
  Value* low_bits = ops::binary(b, kAnd, whole, full(DType::kI32, 62));
  return ops::multiply(b, ops::convert(b, low_bits, DType::kF32), full(DType::kF32, 0x1p-5));
}

Value* softmax_of_rows(GraphBuilder& b, Value* scores) {
  const Shape& shape = scores->type.shape;
  const int64_t last = scores->type.rank() - 1;
  std::vector<int64_t> rows(last);
  std::iota(rows.begin(), rows.end(), 0);
  Value* top = ops::broadcast_in_dim(b, ops::reduce(b, kMaximum, scores, {last}), shape, rows);
  Value* terms = ops::unary(b, kExponential, ops::subtract(b, scores, top));
  return ops::divide(b, terms, ops::broadcast_in_dim(b, ops::reduce(b, kAdd, terms, {last}), shape, rows));
}

}  // namespace ingot
