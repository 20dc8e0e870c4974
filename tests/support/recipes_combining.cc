// Recipes for ops that combine elements: contractions, reductions, windows, sorting, factorisations, normalisations.
#include <algorithm>
#include <numeric>

#include "aot/ops/support/matrices/matrices.h"
#include "aot/ops/support/matrices/triangular_solve.h"
#include "tests/support/graph_maker.h"

namespace ingot {
namespace {

std::vector<std::unique_ptr<Block>> one(std::unique_ptr<Block> region) {
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::move(region));
  return regions;
}

std::vector<int64_t> shuffled(GraphMaker& m, std::vector<int64_t> values) {
  for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[m.random.below(static_cast<int64_t>(i))]);
  return values;
}

std::vector<int64_t> iota_dims(size_t rank) {
  std::vector<int64_t> dims(rank);
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

DType number_dtype(GraphMaker& m) {
  static const std::vector<DType> kIntegers = {DType::kI32, DType::kI8, DType::kI64, DType::kUI8, DType::kI16};
  return m.random.chance(0.8) ? m.float_dtype() : m.random.one_of(kIntegers);
}

// Some dimensions of x in batches, some contracted, the other operand's in any order.
void dot_general(GraphMaker& m) {
  Value* x = m.any([](const TensorType& type) { return !is_bool(type.dtype) && type.rank() > 0; });
  if (!x || m.random.chance(0.3)) x = m.of({number_dtype(m), m.shape(1 + static_cast<int>(m.random.below(3)))});
  const Shape& shape = x->type.shape;
  ops::DotDims dims;
  std::vector<int64_t> from(shape.size());  // the dimension of y that each of x pairs with
  Shape y;
  for (const int64_t d : shuffled(m, iota_dims(shape.size()))) {
    const double at = m.random.uniform();
    if (at < 0.2) dims.lhs_batch.push_back(d);
    if (at > 0.5 || (d == 0 && shape.size() == 1)) dims.lhs_contract.push_back(d);
  }
  std::vector<int64_t> paired = dims.lhs_batch;
  paired.insert(paired.end(), dims.lhs_contract.begin(), dims.lhs_contract.end());
  for (int64_t free = m.random.below(3); free > 0; --free) paired.push_back(-1);
  paired = shuffled(m, paired);
  for (const int64_t d : paired) y.push_back(d < 0 ? m.extent() : shape[d]);
  const auto place = [&](int64_t d) { return std::ranges::find(paired, d) - paired.begin(); };
  for (const int64_t d : dims.lhs_batch) dims.rhs_batch.push_back(place(d));
  for (const int64_t d : dims.lhs_contract) dims.rhs_contract.push_back(place(d));
  if (m.is_small(y)) ops::dot_general(m.b, x, m.of({x->type.dtype, y}), dims);
}

// x y + u v + ..., with depths of their own, and at times with other terms between them.
void sum_of_products(GraphMaker& m) {
  const DType dtype = number_dtype(m);
  const int64_t rows = m.extent(), columns = m.extent();
  const bool is_usual = m.random.chance(0.6);
  Value* sum = nullptr;
  for (int64_t count = 2 + m.random.below(2); count > 0; --count) {
    const int64_t depth = m.extent();
    Value* x = m.of({dtype, is_usual ? Shape{rows, depth} : Shape{depth, rows}});
    Value* y = m.of({dtype, is_usual ? Shape{depth, columns} : Shape{columns, depth}});
    Value* product = ops::dot_general(m.b, x, y, {{}, {}, {is_usual ? 1 : 0}, {is_usual ? 0 : 1}});
    sum = sum ? ops::add(m.b, sum, product) : product;
    if (m.random.chance(0.3)) sum = ops::add(m.b, m.of(sum->type), sum);
  }
}

ops::WindowDim window_dim(GraphMaker& m, int64_t size) {
  ops::WindowDim dim{.size = size};
  if (m.random.chance(0.3)) dim.stride = 1 + m.random.below(3);
  if (m.random.chance(0.5)) dim.low = m.random.below(4) - 1;
  if (m.random.chance(0.5)) dim.high = m.random.below(4) - 1;
  if (m.random.chance(0.15)) dim.base_dilation = 2;
  if (m.random.chance(0.15)) dim.dilation = 2;
  return dim;
}

// One to three spatial dimensions; each operand's and the result's dimensions in any order; groups.
void convolution(GraphMaker& m) {
  const auto spatial = 1 + m.random.below(m.random.chance(0.2) ? 3 : 2);
  const auto rank = static_cast<size_t>(spatial) + 2;
  ops::Convolution it;
  const int64_t groups = m.random.chance(0.3) ? 1 + m.random.below(3) : 1;
  (m.random.chance(0.7) ? it.feature_groups : it.batch_groups) = groups;
  const bool is_usual = m.random.chance(0.5);
  const auto order = [&] { return is_usual ? iota_dims(rank) : shuffled(m, iota_dims(rank)); };
  const std::vector<int64_t> input = order(), kernel = order(), output = order();
  it.dims.input_batch = input[0];
  it.dims.input_feature = input[1];
  it.dims.kernel_output_feature = kernel[0];
  it.dims.kernel_input_feature = kernel[1];
  it.dims.output_batch = output[0];
  it.dims.output_feature = output[1];
  Shape x(rank), k(rank);
  x[input[0]] = it.batch_groups * (1 + m.random.below(3));
  k[kernel[1]] = 1 + m.random.below(5);
  x[input[1]] = it.feature_groups * k[kernel[1]];
  k[kernel[0]] = groups * (1 + m.random.below(5));
  for (size_t d = 2; d < rank; ++d) {
    it.dims.input_spatial.push_back(input[d]);
    it.dims.kernel_spatial.push_back(kernel[d]);
    it.dims.output_spatial.push_back(output[d]);
    x[input[d]] = 1 + m.random.below(7);
    k[kernel[d]] = 1 + m.random.below(4);
    it.window.push_back(window_dim(m, k[kernel[d]]));
    it.window.back().reversed = m.random.chance(0.15);
  }
  const DType dtype = number_dtype(m);
  Value* left = m.of({dtype, x});
  ops::convolution(m.b, left, m.of({dtype, k}), it);
}

const OpDef& reducing_op(GraphMaker& m, DType dtype) {
  static const std::vector<const OpDef*> kOps = {&kAdd, &kAdd, &kMaximum, &kMinimum, &kMultiply};
  static const std::vector<const OpDef*> kBits = {&kAnd, &kOr, &kAdd, &kMaximum};
  return *m.random.one_of(is_float(dtype) || m.random.chance(0.5) ? kOps : kBits);
}

// Half of the time the result is broadcast back, as in a softmax.
void reduce(GraphMaker& m) {
  Value* x = m.any();
  std::vector<int64_t> dims, kept;
  for (int64_t d = 0; d < x->type.rank(); ++d) (m.random.chance(0.5) ? dims : kept).push_back(d);
  const OpDef& op = is_bool(x->type.dtype) ? kOr : reducing_op(m, x->type.dtype);
  Value* y = ops::reduce(m.b, op, x, dims);
  if (m.random.chance(0.6)) return;
  ops::binary(m.b, m.random.chance(0.5) ? kSubtract : kMultiply, x, ops::broadcast_in_dim(m.b, y, x->type.shape, kept));
}

// (a, i, b, j) -> the greater of a and b, with its position; the first of equal ones.
std::unique_ptr<Block> greatest_region(DType value, DType position) {
  auto block = std::make_unique<Block>();
  for (DType dtype : {value, position, value, position}) block->add_argument({dtype, {}});
  GraphBuilder b;
  b.at_end(*block);
  Value* stays = ops::compare(b, "GE", block->argument(0), block->argument(2));
  Value* greatest = ops::select(b, stays, block->argument(0), block->argument(2));
  Value* where = ops::select(b, stays, block->argument(1), block->argument(3));
  b.create(kStablehloReturn, {greatest, where});
  return block;
}

void argmax(GraphMaker& m) {
  Value* x = m.any([](const TensorType& type) { return !is_bool(type.dtype) && type.rank() > 0; });
  if (!x) return;
  const int64_t dim = m.random.below(x->type.rank());
  Value* positions = ops::iota(m.b, {DType::kI32, x->type.shape}, dim);
  Value* least = ops::constant(m.b, {x->type.dtype, {}}, is_unsigned(x->type.dtype) ? 0 : -1);
  Value* zero = ops::constant(m.b, {DType::kI32, {}}, 0);
  m.make(kReduce, {x, positions, least, zero}, {{"dimensions", std::vector<int64_t>{dim}}}, {},
         one(greatest_region(x->type.dtype, DType::kI32)));
}

ops::Window random_window(GraphMaker& m, const Shape& shape) {
  ops::Window window;
  for (const int64_t extent : shape) {
    window.push_back(m.random.chance(0.4) ? ops::WindowDim{}
                                          : window_dim(m, 1 + m.random.below(std::clamp<int64_t>(extent, 1, 4))));
  }
  return window;
}

void reduce_window(GraphMaker& m) {
  Value* x = m.any([](const TensorType& type) { return !is_bool(type.dtype); });
  if (x) ops::reduce_window(m.b, m.random.chance(0.5) ? kAdd : kMaximum, x, random_window(m, x->type.shape));
}

// A running sum or maximum along a dimension, as JAX writes it.
void cumulative(GraphMaker& m) {
  Value* x = m.any([](const TensorType& type) { return !is_bool(type.dtype) && type.rank() > 0; });
  if (!x) return;
  ops::Window window(x->type.shape.size());
  const int64_t dim = m.random.below(x->type.rank()), extent = std::max<int64_t>(x->type.shape[dim], 1);
  window[dim].size = extent;
  (m.random.chance(0.7) ? window[dim].low : window[dim].high) = extent - 1;
  static const std::vector<const OpDef*> kOps = {&kAdd, &kMaximum, &kMinimum};
  ops::reduce_window(m.b, *m.random.one_of(kOps), x, window);
}

void select_and_scatter(GraphMaker& m) {
  Value* x = m.any([](const TensorType& type) { return !is_bool(type.dtype); });
  if (!x) return;
  ops::Window window = random_window(m, x->type.shape);
  for (ops::WindowDim& dim : window) dim.base_dilation = dim.dilation = 1;
  const Shape positions = ops::positions(window, x->type.shape);
  if (!m.is_small(positions)) return;
  Value* source = m.of({x->type.dtype, positions});
  ops::select_and_scatter_add(m.b, m.random.chance(0.7) ? "GE" : "LE", x, source, window);
}

// One to three tensors along a dimension, by the first.
void sort(GraphMaker& m) {
  Value* x = m.any([](const TensorType& type) { return !is_bool(type.dtype) && type.rank() > 0; });
  if (!x) return;
  Values operands{x};
  for (int64_t more = m.random.below(3); more > 0; --more) operands.push_back(m.of({m.dtype(), x->type.shape}));
  auto region = std::make_unique<Block>();
  for (const Value* operand : operands) {
    region->add_argument({operand->type.dtype, {}});
    region->add_argument({operand->type.dtype, {}});
  }
  GraphBuilder b;
  b.at_end(*region);
  AttrMap attrs{{"comparison_direction", EnumAttr{"comparison_direction", m.random.chance(0.5) ? "LT" : "GT"}}};
  if (is_float(x->type.dtype)) attrs.emplace("compare_type", EnumAttr{"comparison_type", "TOTALORDER"});
  b.create(kStablehloReturn, {b.make(kCompare, {region->argument(0), region->argument(1)}, attrs)});
  m.make(kSort, operands, {{"dimension", IntAttr{m.random.below(x->type.rank())}}, {"is_stable", m.random.chance(0.5)}},
         {}, one(std::move(region)));
}

void top_k(GraphMaker& m) {
  Value* x = m.any([](const TensorType& type) { return type.rank() > 0; });
  if (x) m.make(kTopK, {x}, {{"k", IntAttr{m.random.below(x->type.shape.back() + 1)}}});
}

// x xᵀ + n I for random square matrices x: positive definite, and well conditioned.
Value* well_conditioned(GraphMaker& m, DType dtype) {
  const int64_t size = 1 + m.random.below(7);
  Shape shape = m.random.chance(0.3) ? Shape{1 + m.random.below(3), size, size} : Shape{size, size};
  Value* x = m.of({dtype, shape});
  Value* rows = ops::iota(m.b, {DType::kI32, shape}, x->type.rank() - 2);
  Value* columns = ops::iota(m.b, {DType::kI32, shape}, x->type.rank() - 1);
  Value* diagonal = ops::convert(m.b, ops::compare(m.b, "EQ", rows, columns), dtype);
  Value* bounded = ops::unary(m.b, kTanh, x);
  Value* squared = ops::matmul(m.b, bounded, bounded, true);
  Value* weight = ops::constant(m.b, x->type, static_cast<double>(size));
  Value* ridge = ops::multiply(m.b, diagonal, weight);
  return ops::add(m.b, squared, ridge);
}

void cholesky(GraphMaker& m) {
  const DType dtype = m.random.chance(0.7) ? DType::kF32 : DType::kF64;
  Value* a = well_conditioned(m, dtype);
  m.make(kCholesky, {a}, {{"lower", m.random.chance(0.5)}});
}

void triangular_solve(GraphMaker& m) {
  const DType dtype = m.random.chance(0.7) ? DType::kF32 : DType::kF64;
  Value* a = well_conditioned(m, dtype);
  const ops::TriangularSolve solve{.left_side = m.random.chance(0.5),
                                   .lower = m.random.chance(0.5),
                                   .unit_diagonal = false,
                                   .transposed = m.random.chance(0.5)};
  Shape shape = a->type.shape;
  shape[shape.size() - (solve.left_side ? 1 : 2)] = m.extent();
  ops::triangular_solve(m.b, a, m.of({dtype, shape}), solve);
}

void batch_norm(GraphMaker& m) {
  Value* x = m.any([](const TensorType& type) { return is_float(type.dtype) && type.rank() > 0; });
  if (!x) return;
  const int64_t feature = m.random.below(x->type.rank());
  const AttrMap attrs{{"epsilon", FloatAttr{0.01, DType::kF32}}, {"feature_index", IntAttr{feature}}};
  const TensorType features{x->type.dtype, {x->type.shape[feature]}};
  const auto vector = [&] { return m.of(features); };
  Value* scale = vector();
  Value* offset = vector();
  if (m.random.chance(0.4)) {
    m.make(kBatchNormTraining, {x, scale, offset}, attrs);
    return;
  }
  Value* mean = vector();
  Value* deviation = vector();
  Value* variance = ops::multiply(m.b, deviation, deviation);
  if (m.random.chance(0.5)) {
    m.make(kBatchNormInference, {x, scale, offset, mean, variance}, attrs);
  } else {
    m.make(kBatchNormGrad, {x, scale, mean, variance, m.other(x)}, attrs);
  }
}

void rng_bit_generator(GraphMaker& m) {
  static const std::vector<DType> kDTypes = {DType::kUI32, DType::kUI32, DType::kUI64, DType::kUI8, DType::kI32};
  const TensorType state{DType::kUI64, {2}};
  const std::string algorithm = m.random.chance(0.5) ? "THREE_FRY" : "PHILOX";
  m.make(kRngBitGenerator, {m.of(state)}, {{"rng_algorithm", EnumAttr{"rng_algorithm", algorithm}}},
         {state, {m.random.one_of(kDTypes), m.shape()}});
}

}  // namespace

std::vector<Recipe> combining_recipes() {
  return {
      {"dot_general", 1.5, dot_general},
      {"sum_of_products", 0.4, sum_of_products},
      {"convolution", 0.6, convolution},
      {"reduce", 2, reduce},
      {"argmax", 0.3, argmax},
      {"reduce_window", 0.6, reduce_window},
      {"cumulative", 0.3, cumulative},
      {"select_and_scatter", 0.3, select_and_scatter},
      {"sort", 0.4, sort},
      {"top_k", 0.3, top_k},
      {"cholesky", 0.15, cholesky},
      {"triangular_solve", 0.15, triangular_solve},
      {"batch_norm", 0.3, batch_norm},
      {"rng_bit_generator", 0.2, rng_bit_generator},
  };
}

}  // namespace ingot
