// Recipes for ops whose regions are graphs themselves: loops, branches, maps.
#include <algorithm>

#include "tests/support/graph_maker.h"

namespace ingot {
namespace {

constexpr int kDepthMax = 2;

void finish(GraphMaker& region, const std::vector<TensorType>& types) {
  Values results;
  for (const TensorType& type : types) results.push_back(region.of(type));
  region.make(kStablehloReturn, results);
}

int some_recipes(GraphMaker& m) { return 1 + static_cast<int>(m.random.below(4)); }

const TensorType kCounter{DType::kI32, {}};

// `while i < times` of a counter i that is carried behind `carried`; `next` makes what follows those in the body.
using NextValues = std::function<Values(GraphMaker& body, const Block& region)>;
void counted_loop(GraphMaker& m, Values carried, Value* times, const NextValues& next) {
  std::vector<RefTensor> starts;
  for (Value* value : carried) starts.push_back(m.tensor_of(value));
  carried.push_back(ops::constant(m.b, kCounter, 0));
  starts.emplace_back(kCounter);

  std::vector<std::unique_ptr<Block>> regions;
  for (int k = 0; k < 2; ++k) {
    regions.push_back(std::make_unique<Block>());
    for (const Value* value : carried) regions.back()->add_argument(value->type);
  }
  GraphBuilder condition;
  condition.at_end(*regions[0]);
  Value* goes_on = ops::compare(condition, "LT", regions[0]->arguments.back().get(), times);
  condition.create(kStablehloReturn, {goes_on});

  GraphMaker body(m, *regions[1], starts);
  Values following = next(body, *regions[1]);
  Value* one = ops::constant(body.b, kCounter, 1);
  following.push_back(ops::add(body.b, regions[1]->arguments.back().get(), one));
  body.make(kStablehloReturn, following);
  m.make(kWhile, carried, {}, {}, std::move(regions));
}

// For n of at most four, a constant or not; the body makes what is carried anew.
void loop(GraphMaker& m) {
  if (m.depth() >= kDepthMax) return;
  Values carried;
  for (int64_t count = 1 + m.random.below(3); count > 0; --count) {
    carried.push_back(m.random.chance(0.3) ? m.of({m.dtype(), m.shape()}) : m.any());
  }
  Value* times = ops::constant(m.b, kCounter, static_cast<double>(m.random.below(5)));
  if (m.random.chance(0.3)) {
    Value* three = ops::constant(m.b, kCounter, 3);
    times = ops::binary(m.b, kAnd, m.of(kCounter), three);
  }
  counted_loop(m, carried, times, [&](GraphMaker& body, const Block&) {
    body.grow(some_recipes(m));
    Values next;
    for (const Value* value : carried) next.push_back(body.of(value->type));
    return next;
  });
}

// Through the rows of stacks, up or down: an iteration reads a row, writes another, and adds a product of both to a sum.
void scan(GraphMaker& m) {
  if (m.depth() >= kDepthMax) return;
  const int64_t trips = 2 + m.random.below(3), depth = 1 + m.random.below(2);
  const int64_t rows = 4 + m.random.below(5), columns = 4 + m.random.below(5);
  const DType dtype = m.float_dtype();
  Value* read = m.of({dtype, {trips, depth, rows}});
  const TensorType stack_type{dtype, {trips, depth, columns}};
  Value* written = m.random.chance(0.5) ? ops::constant(m.b, stack_type, 0) : m.of(stack_type);
  Value* sum = m.of({dtype, {rows, columns}});
  const bool goes_down = m.random.chance(0.5), is_flipped = m.random.chance(0.3);
  Value* times = ops::constant(m.b, kCounter, static_cast<double>(trips));
  counted_loop(m, {sum, written}, times, [&](GraphMaker& body, const Block& region) -> Values {
    GraphBuilder& b = body.b;
    Value* zero = ops::constant(b, kCounter, 0);
    Value* row = region.argument(2);
    if (goes_down) row = ops::subtract(b, ops::constant(b, kCounter, static_cast<double>(trips - 1)), row);
    Value* x = ops::reshape(b, ops::dynamic_slice(b, read, {row, zero, zero}, {1, depth, rows}), {depth, rows});
    body.grow(some_recipes(m));
    Value* y = body.of({dtype, {depth, columns}});
    Value* window = ops::reshape(b, y, {1, depth, columns});
    Value* stack = ops::dynamic_update_slice(b, region.argument(1), window, {row, zero, zero});
    const ops::DotDims dims{{}, {}, {0}, {0}};
    Value* product =
        is_flipped ? ops::transpose(b, ops::dot_general(b, y, x, dims), {1, 0}) : ops::dot_general(b, x, y, dims);
    return {ops::add(b, region.argument(0), product), stack};
  });
}

std::vector<std::unique_ptr<Block>> branches(GraphMaker& m, int64_t count) {
  std::vector<TensorType> types;
  for (int64_t results = 1 + m.random.below(3); results > 0; --results) {
    types.push_back(m.random.chance(0.7) ? m.any()->type : TensorType{m.dtype(), m.shape()});
  }
  std::vector<std::unique_ptr<Block>> regions;
  for (; count > 0; --count) {
    regions.push_back(std::make_unique<Block>());
    GraphMaker branch(m, *regions.back());
    if (m.random.chance(0.8)) branch.grow(some_recipes(m));
    finish(branch, types);
  }
  return regions;
}

void choose_case(GraphMaker& m) {
  if (m.depth() >= kDepthMax) return;
  Value* index = m.of({DType::kI32, {}});
  m.make(kCase, {index}, {}, {}, branches(m, 1 + m.random.below(3)));
}

void choose_if(GraphMaker& m) {
  if (m.depth() >= kDepthMax) return;
  Value* condition = m.of({DType::kI1, {}});
  m.make(kIf, {condition}, {}, {}, branches(m, 2));
}

void map(GraphMaker& m) {
  static const std::vector<const OpDef*> kOps = {&kAdd, &kSubtract, &kMultiply, &kMaximum};
  Value* x = m.any();
  auto region = std::make_unique<Block>();
  Values operands{x, m.other(x)};
  for (const Value* operand : operands) region->add_argument({operand->type.dtype, {}});
  GraphBuilder b;
  b.at_end(*region);
  Value* inner = ops::binary(b, *m.random.one_of(kOps), region->argument(0), region->argument(1));
  b.create(kStablehloReturn, {ops::binary(b, *m.random.one_of(kOps), inner, region->argument(0))});
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < x->type.rank(); ++d) dims.push_back(d);
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::move(region));
  m.make(kMap, operands, {{"dimensions", dims}}, {}, std::move(regions));
}

void optimization_barrier(GraphMaker& m) {
  Value* x = m.any();
  m.make(kOptimizationBarrier, {x, m.any()});
}

}  // namespace

std::vector<Recipe> nesting_recipes() {
  return {
      {"loop", 1, loop},
      {"scan", 0.5, scan},
      {"choose_case", 0.4, choose_case},
      {"choose_if", 0.4, choose_if},
      {"map", 0.2, map},
      {"optimization_barrier", 0.2, optimization_barrier},
  };
}

}  // namespace ingot
