// Programs that read positions: attention, products, sums, windows, tables, loops, orders.
#include <cmath>

#include "aot/graph/evaluate.h"
#include "aot/graph/verify.h"
#include "aot/ops/support/loop.h"
#include "tests/support/narrow_positions.h"
#include "tests/support/random_graph.h"

namespace ingot {
namespace {

constexpr double kGreatest = 1e6;  // of what a program gives
constexpr int64_t kTripsMax = 150;

TensorType f32(const Shape& shape) { return {DType::kF32, shape}; }

Value* times_factor(PositionMaker& m, Value* x) { return ops::multiply(m.b, x, m.factor(x->type.shape)); }

Values attention(PositionMaker& m) {
  GraphBuilder& b = m.b;
  const int64_t batch = 2 + m.random.below(3), depth = 3 + m.random.below(5), few = 10 + m.random.below(4);
  const int64_t many = m.long_extent();
  const bool has_many_queries = m.random.chance(0.8);
  const int64_t queries = has_many_queries ? many : few, keys = has_many_queries ? few : many;
  Value *q = m.argument(f32({batch, queries, depth})), *k = m.argument(f32({batch, keys, depth})),
        *v = m.argument(f32({batch, keys, depth}));
  Value* scores = ops::dot_general(b, q, k, {{0}, {0}, {2}, {2}});
  const Shape& shape = scores->type.shape;
  const bool is_alike = m.random.chance(0.8);  // in the whole batch
  const Shape plane = is_alike ? Shape{queries, keys} : shape;
  const auto spread = [&](Value* x) { return is_alike ? ops::broadcast_in_dim(b, x, shape, {1, 2}) : x; };
  // What is the same in all of a row would be lost as a sum.
  if (m.random.chance(0.8))
    scores = ops::binary(b, m.random.chance(0.6) ? kMultiply : kAdd, scores, spread(m.factor(plane)));
  if (m.random.chance(0.4)) scores = ops::select(b, spread(m.mask(plane)), scores, ops::constant_like(b, scores, -1e9));
  Value* p = softmax_of_rows(b, scores);
  if (m.random.chance(0.2)) p = ops::multiply(b, p, spread(m.factor(plane)));
  Values results = {ops::dot_general(b, p, v, {{0}, {0}, {2}, {1}})};
  if (m.random.chance(0.7)) return results;
  Value* g = m.argument(q->type);  // of the result; gradients of q, k and v follow
  results.push_back(ops::dot_general(b, p, g, {{0}, {0}, {1}, {1}}));
  Value* dp = ops::dot_general(b, g, v, {{0}, {0}, {2}, {2}});
  Value* sums = ops::reduce(b, kAdd, ops::multiply(b, dp, p), {2});
  Value* ds = ops::multiply(b, ops::subtract(b, dp, ops::broadcast_in_dim(b, sums, shape, {0, 1})), p);
  results.push_back(ops::dot_general(b, ds, k, {{0}, {0}, {2}, {1}}));
  results.push_back(ops::dot_general(b, ds, q, {{0}, {0}, {1}, {1}}));
  return results;
}

// Rows by a matrix, and what is summed up over all rows.
Values products(PositionMaker& m) {
  GraphBuilder& b = m.b;
  const int64_t rows = m.long_extent(), depth = m.short_extent(), columns = m.short_extent();
  Value* x = times_factor(m, m.argument(f32({rows, depth})));
  Value* w = m.argument(f32({depth, columns}));
  if (m.random.chance(0.3)) w = times_factor(m, w);
  Value* y = ops::dot_general(b, x, w, {{}, {}, {1}, {0}});
  if (m.random.chance(0.5)) y = ops::unary(b, kTanh, ops::add(b, y, m.factor(y->type.shape)));
  Values results;
  if (m.random.chance(0.7)) results.push_back(y);
  if (m.random.chance(0.5)) results.push_back(ops::dot_general(b, x, y, {{}, {}, {0}, {0}}));
  if (m.random.chance(0.3) || results.empty()) results.push_back(ops::reduce(b, kAdd, times_factor(m, y), {0}));
  return results;
}

// Of bytes, summed up in words.
Values integer_products(PositionMaker& m) {
  static const std::vector<DType> kBytes = {DType::kI8, DType::kUI8, DType::kI16};
  const DType dtype = m.random.one_of(kBytes);
  int64_t rows = m.long_extent(), depth = m.short_extent();
  if (m.random.chance(0.5)) std::swap(rows, depth);
  const int64_t columns = m.short_extent();
  const auto bytes = [&](const Shape& shape) {
    const TensorType type{dtype, shape};
    return m.random.chance(0.6) ? m.positions(type, static_cast<int>(m.random.below(3))) : m.argument(type);
  };
  const ops::DotDims dims{{}, {}, {1}, {0}};
  return {m.b.make(kDotGeneral, {bytes({rows, depth}), bytes({depth, columns})},
                   {{"dot_dimension_numbers", ops::to_attr(dims)}}, {{DType::kI32, {rows, columns}}})};
}

Values sums(PositionMaker& m) {
  GraphBuilder& b = m.b;
  Shape shape = {m.long_extent(), m.short_extent()};
  if (m.random.chance(0.3)) shape.push_back(m.random.below(4) + 1);
  if (m.random.chance(0.3)) std::swap(shape[0], shape[1]);
  const std::vector<std::vector<int64_t>> dims = {{0}, {1}, {0, 1}};
  Value* x = times_factor(m, m.argument(f32(shape)));
  Values results = {ops::reduce(b, m.random.chance(0.7) ? kAdd : kMaximum, x, m.random.one_of(dims))};
  Value* counts = ops::convert(b, m.positions(shape), DType::kI32);
  if (m.random.chance(0.5)) results.push_back(ops::reduce(b, kAdd, counts, m.random.one_of(dims)));
  if (m.random.chance(0.5)) results.push_back(ops::unary(b, kTanh, x));
  return results;
}

Values pools(PositionMaker& m) {
  GraphBuilder& b = m.b;
  const Shape shape = {1 + m.random.below(4), m.long_extent(), 1 + m.random.below(8)};
  Value* x = times_factor(m, m.argument(f32(shape)));
  ops::Window window(3);
  window[1] = {.size = 2 + m.random.below(3), .stride = 1 + m.random.below(2), .low = m.random.below(2)};
  return {ops::reduce_window(b, m.random.chance(0.5) ? kAdd : kMaximum, x, window)};
}

Values convolved(PositionMaker& m) {
  GraphBuilder& b = m.b;
  const int64_t batch = 1 + m.random.below(4), channels = 1 + m.random.below(6), filters = 1 + m.random.below(9);
  Value* x = times_factor(m, m.argument(f32({batch, m.long_extent(), channels})));
  const int64_t size = 1 + m.random.below(4);
  Value* w = m.argument(f32({size, channels, filters}));
  ops::Convolution it{.dims = {0, 2, {1}, 1, 2, {0}, 0, 2, {1}}, .window = {{.size = size}}};
  it.window[0].stride = 1 + m.random.below(2);
  it.window[0].low = m.random.below(3);
  Value* y = ops::convolution(b, x, w, it);
  if (m.random.chance(0.5)) y = times_factor(m, y);
  return {y};
}

// Rows of a table read and written at positions.
Values tables(PositionMaker& m) {
  GraphBuilder& b = m.b;
  const int64_t rows = m.long_extent(), width = 1 + m.random.below(9), count = m.long_extent();
  Value* x = m.argument(f32({rows, width}));
  ops::IndexedDims dims;
  dims.window_dims = {1};
  dims.dropped_dims = dims.index_map = {0};
  dims.index_vector_dim = 1;
  const auto places = [&] { return m.positions({m.index_dtype(), {count, 1}}, static_cast<int>(m.random.below(3))); };
  Value* read = ops::gather(b, x, places(), dims, {1, width});
  if (m.random.chance(0.4)) return {times_factor(m, read)};
  const OpDef* op = m.random.chance(0.7) ? &kAdd : nullptr;
  return {ops::scatter(b, op, x, places(), times_factor(m, read), dims), read};
}

// Of a counter: how often a loop runs; nullopt where that is too often.
std::optional<int64_t> trips_of(DType dtype, double start, double limit, double step) {
  int64_t trips = 0;
  const auto stored = [&](double x) {
    return is_float(dtype) ? round_to(dtype, x) : static_cast<double>(wrap_to(dtype, static_cast<int64_t>(x)));
  };
  for (double at = start; at < limit && trips <= kTripsMax; ++trips) at = stored(at + step);
  return trips <= kTripsMax ? std::optional(trips) : std::nullopt;
}

struct NarrowCounter {
  DType dtype;
  double start, limit, step;
  int64_t trips;
};

// Up to where its type ends.
NarrowCounter narrow_counter(Random& random) {
  static const std::vector<DType> kCounters = {DType::kI8, DType::kI8, DType::kUI8, DType::kI16, DType::kBF16};
  static const std::vector<double> kLimits = {5, 9, 64, 100, 120, 124, 126, 127}, kMore = {128, 200, 250, 255, 256};
  static const std::vector<double> kStarts = {0, 0, 0, 1, 100}, kSteps = {1, 1, 1, 2, 3, 10};
  while (true) {
    NarrowCounter it{random.one_of(kCounters), random.one_of(kStarts), 0, random.one_of(kSteps), 0};
    it.limit = random.one_of(it.dtype != DType::kI8 && random.chance(0.5) ? kMore : kLimits);
    if (const auto trips = trips_of(it.dtype, it.start, it.limit, it.step)) {
      it.trips = *trips;
      return it;
    }
  }
}

// Positions that a loop moves by its counter, and perhaps rows of a stack that it reads and writes there.
Values loops(PositionMaker& m) {
  GraphBuilder& b = m.b;
  const NarrowCounter counter = narrow_counter(m.random);
  const bool reads = m.random.chance(0.6), writes = reads && m.random.chance(0.6), multiplies = m.random.chance(0.4);
  const int64_t rows = reads ? std::max<int64_t>(counter.trips, 1) + m.random.below(3) : 1;
  const int64_t width = reads || multiplies ? 1 + m.random.below(16) : m.long_extent();
  const TensorType narrow{m.narrow_dtype(), {1, width}}, whole{DType::kI32, {1, width}};
  const DType index = is_float(counter.dtype) ? DType::kI32 : counter.dtype;
  const auto number = [&](GraphBuilder& at, double x) { return ops::constant(at, {counter.dtype, {}}, x); };
  Value* stack = times_factor(m, m.argument(f32({rows, width})));
  Value* w = multiplies ? m.argument(f32({width, width})) : nullptr;
  Values starts = {number(b, counter.start), ops::constant(b, f32({1, width}), 0), m.positions(narrow, 1)};
  if (writes) starts.push_back(ops::constant(b, stack->type, 0));
  const auto body = [&](GraphBuilder& at, const Values& x) {
    const Values places = {ops::convert(at, x[0], index), ops::constant(at, splat_int({index, {}}, 0))};
    Value* read = reads ? ops::dynamic_slice(at, stack, places, {1, width}) : stack;
    Value* moved = ops::add(at, x[2], ops::broadcast_scalar(at, ops::convert(at, x[0], narrow.dtype), narrow.shape));
    Value* low = ops::binary(at, kAnd, ops::convert(at, moved, DType::kI32), ops::constant(at, whole, 7));
    Value* term = ops::multiply(at, read, ops::convert(at, low, DType::kF32));
    if (multiplies) term = ops::unary(at, kTanh, ops::dot_general(at, term, w, {{}, {}, {1}, {0}}));
    Values next = {ops::add(at, x[0], number(at, counter.step)), ops::add(at, x[1], term), moved};
    if (writes) next.push_back(ops::dynamic_update_slice(at, x[3], next[1], places));
    return next;
  };
  const auto goes_on = [&](GraphBuilder& at, const Values& x) {
    return ops::compare(at, "LT", x[0], number(at, counter.limit));
  };
  Values results = ops::while_loop(b, starts, goes_on, body);
  if (m.random.chance(0.5)) results.erase(results.begin());
  return results;
}

// A recurrence, written iteration by iteration.
Values unrolled(PositionMaker& m) {
  GraphBuilder& b = m.b;
  const int64_t times = 8 + m.random.below(5), rows = m.random.chance(0.5) ? m.long_extent() : m.short_extent();
  const int64_t width = 1 + m.random.below(6);
  Value* x = times_factor(m, m.argument(f32({rows, times, width})));
  Value* w = m.argument(f32({width, width}));
  w = ops::multiply(b, w, ops::constant_like(b, w, 0.125));  // errors stay small from iteration to iteration
  Value* h = m.argument(f32({rows, width}));
  const TensorType type{m.narrow_dtype(), {rows, width}};
  Value* at = m.positions(type, 1);
  const bool counts = m.random.chance(0.5);
  Values made;
  for (int64_t t = 0; t < times; ++t) {
    Value* row = ops::slice(b, x, {0, t, 0}, {rows, t + 1, width}, {1, 1, 1});
    Value* sum = ops::add(b, ops::dot_general(b, h, w, {{}, {}, {1}, {0}}), ops::reshape(b, row, {rows, width}));
    if (counts) {
      at = ops::add(b, at, ops::constant_like(b, at, 1));
      sum = ops::multiply(b, sum,
                          ops::convert(b, ops::compare(b, "LT", at, ops::constant_like(b, at, 100)), DType::kF32));
    }
    h = ops::unary(b, kTanh, sum);
    made.push_back(ops::reshape(b, h, {rows, 1, width}));
  }
  if (m.random.chance(0.5)) return {h};
  return {ops::concatenate(b, made, 1)};
}

// Rows sorted by positions, the greatest of them, and where these are.
Values orders(PositionMaker& m) {
  GraphBuilder& b = m.b;
  const Shape shape = {1 + m.random.below(5), m.long_extent()};
  const TensorType type{m.narrow_dtype(), shape};
  Value* keys = m.positions(type, 1 + static_cast<int>(m.random.below(2)));
  if (m.random.chance(0.3) && !is_narrow_float(type.dtype)) {
    const Op* found = b.create(kTopK, {keys}, {{"k", IntAttr{1 + m.random.below(9)}}});
    return {found->result(0), found->result(1)};
  }
  Value* carried = m.random.chance(0.5) ? m.argument(f32(shape)) : m.positions(shape);
  auto region = std::make_unique<Block>();
  for (const Value* operand : {keys, keys, carried, carried}) region->add_argument({operand->type.dtype, {}});
  GraphBuilder inner;
  inner.at_end(*region);
  const bool is_sort = m.random.chance(0.6);
  Value* test = ops::compare(inner, m.random.chance(0.5) ? "LT" : "GT", region->argument(0), region->argument(1));
  std::vector<std::unique_ptr<Block>> regions;
  if (is_sort) {
    inner.create(kStablehloReturn, {test});
    regions.push_back(std::move(region));
    const Op* sorted =
        b.create(kSort, {keys, carried}, {{"dimension", IntAttr{1}}, {"is_stable", true}}, {}, std::move(regions));
    return {sorted->result(1)};
  }
  return {ops::reduce(b, kMaximum, keys, {1}), ops::reduce(b, kMinimum, carried, {1})};
}

// Positions themselves; of one dimension also where i16 and f16 end.
Values bare(PositionMaker& m) {
  static const std::vector<int64_t> kVeryLong = {2049, 2500, 4096, 5000, 33000, 40000};
  const Shape shape =
      m.random.chance(0.3) ? Shape{m.random.one_of(kVeryLong)} : Shape{m.long_extent(), m.short_extent()};
  Value* x = m.positions(shape);
  return {x, times_factor(m, m.argument(f32(shape)))};
}

struct Reader {
  double weight;
  Values (*make)(PositionMaker&);
};
constexpr Reader kReaders[] = {
    {5, attention}, {5, products}, {0.5, integer_products}, {1.5, sums}, {1, pools}, {1, convolved},
    {2, tables},    {2, loops},    {1, unrolled},           {1, orders}, {1.5, bare}};

Values read_positions(PositionMaker& m) {
  double sum = 0;
  for (const Reader& reader : kReaders) sum += reader.weight;
  double at = m.random.uniform() * sum;
  for (const Reader& reader : kReaders) {
    if ((at -= reader.weight) < 0) return reader.make(m);
  }
  return bare(m);
}

bool is_finite(const std::vector<RefTensor>& tensors) {
  const auto is_everyday = [](double x) { return std::abs(x) <= kGreatest; };
  return std::ranges::all_of(tensors,
                             [&](const RefTensor& tensor) { return std::ranges::all_of(tensor.f, is_everyday); });
}

std::unique_ptr<Module> candidate(Random& random) {
  auto module = std::make_unique<Module>();
  Function& function = *module->add_function("main");
  PositionMaker maker(random, function);
  const Values results = read_positions(maker);
  maker.b.create(kFuncReturn, results);
  for (const Value* value : results) function.results.push_back({value->type, {}});
  verify(*module);
  return module;
}

}  // namespace

std::unique_ptr<Module> narrow_program(uint64_t seed) {
  Random random(seed);
  while (true) {
    std::unique_ptr<Module> module = candidate(random);
    const Function& function = *module->functions[0];
    if (is_finite(evaluate(function, examples(function)))) return module;
  }
}

}  // namespace ingot
