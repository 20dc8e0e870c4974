#include "aot/ops/support/loop.h"

#include "aot/ops/support/build.h"

namespace ingot::ops {
namespace {

// A region with an argument like each start, that returns what `made(b, arguments)` gives.
template <typename Made>
std::unique_ptr<Block> region(const GraphBuilder& outer, const Values& starts, const Made& made) {
  auto block = std::make_unique<Block>();
  Values arguments;
  for (const Value* start : starts) arguments.push_back(block->add_argument(start->type));
  GraphBuilder b;
  b.location = outer.location;
  b.at_end(*block);
  b.create(kStablehloReturn, made(b, arguments));
  return block;
}

}  // namespace

Values while_loop(GraphBuilder& b, const Values& starts, const LoopCondition& condition, const LoopBody& body) {
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(
      region(b, starts, [&](GraphBuilder& inner, const Values& carried) { return Values{condition(inner, carried)}; }));
  regions.push_back(region(b, starts, body));
  const Op* loop = b.create(kWhile, starts, {}, {}, std::move(regions));
  Values results;
  for (const auto& result : loop->results) results.push_back(result.get());
  return results;
}

Values counted_loop(GraphBuilder& b, int64_t count, const Values& starts, const CountedBody& body) {
  if (count == 0) return starts;
  const TensorType index{DType::kI32, {}};
  Values counted = starts;
  counted.push_back(constant(b, index, 0));
  Values results = while_loop(
      b, counted,
      [&](GraphBuilder& inner, const Values& carried) {
        return compare(inner, "LT", carried.back(), constant(inner, index, static_cast<double>(count)));
      },
      [&](GraphBuilder& inner, Values carried) {
        Value* iteration = carried.back();
        carried.pop_back();
        Values next = body(inner, iteration, carried);
        next.push_back(add(inner, iteration, constant(inner, index, 1)));
        return next;
      });
  results.pop_back();
  return results;
}

}  // namespace ingot::ops
