#include "aot/frontend/trace/control.h"

#include <fmt/format.h>

#include "aot/frontend/trace/trace.h"

namespace ingot {
namespace {

const TensorType kIndex{DType::kI32, {}};
const TensorType kTruth{DType::kI1, {}};

Values values_of(const Tensors& tensors) {
  Values values;
  for (const Tensor& tensor : tensors) values.push_back(value_of(tensor));
  return values;
}

Tensors wrapped(std::span<const std::unique_ptr<Value>> values) {
  Tensors tensors;
  for (const auto& value : values) tensors.push_back(wrap(value.get()));
  return tensors;
}

std::vector<TensorType> types_of(const Values& values) {
  std::vector<TensorType> types;
  for (const Value* value : values) types.push_back(value->type);
  return types;
}

// What a body carries on must be of the types that came in.
void check_carry(const char* function, const Values& next, std::span<const TensorType> types) {
  if (next.size() != types.size()) {
    fail(
        fmt::format("{}: the body is given a carry of {} tensors and returns {}", function, types.size(), next.size()));
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (next[i]->type == types[i]) continue;
    fail(fmt::format("{}: the body turns carry {} from {} to {}", function, i, to_string(types[i]),
                     to_string(next[i]->type)));
  }
}

std::vector<std::unique_ptr<Block>> pair(std::unique_ptr<Block> first, std::unique_ptr<Block> second) {
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::move(first));
  regions.push_back(std::move(second));
  return regions;
}

// The starts of a slice at `iteration` along the first of `rank` dimensions.
Values starts_at(Value* iteration, int64_t rank) {
  Values starts(rank, rank > 1 ? ops::constant(builder(), kIndex, 0) : nullptr);
  starts[0] = iteration;
  return starts;
}

Shape with_first(int64_t extent, const Shape& rest) {
  Shape shape{extent};
  shape.insert(shape.end(), rest.begin(), rest.end());
  return shape;
}

int64_t iterations_of(const Values& xs, const ScanOptions& options) {
  int64_t iterations = options.length;
  for (const Value* x : xs) {
    if (x->type.rank() == 0) fail("scan: a scalar has no dimension to scan along; let the body read it from outside");
    if (iterations >= 0 && iterations != x->type.shape[0]) {
      fail(fmt::format("scan: {} iterations, but {} has {} slices", iterations, to_string(x->type), x->type.shape[0]));
    }
    iterations = x->type.shape[0];
  }
  if (iterations < 0) fail("scan: without xs the number of iterations must be given, as {.length = n}");
  if (iterations == 0) fail("scan: needs one iteration at least");
  return iterations;
}

Tensors branches(const OpDef& op, Value* index, const std::vector<std::function<Tensors()>>& functions) {
  std::vector<std::unique_ptr<Block>> regions;
  for (const auto& function : functions) {
    regions.push_back(Trace::current().region({}, [&](Block&) { return values_of(function()); }));
    const std::vector<TensorType> first = types_of(regions.front()->terminator()->operands);
    const std::vector<TensorType> types = types_of(regions.back()->terminator()->operands);
    if (types != first) fail("the branches of a cond or switch_case must return tensors of the same types");
  }
  return wrapped(builder().create(op, {index}, {}, {}, std::move(regions))->results);
}

}  // namespace

Scanned scan(const std::function<Scanned(Tensors, Tensors)>& body, const Tensors& init, const Tensors& xs,
             const ScanOptions& options, Where at) {
  const Scope scope(at);
  Trace& trace = Trace::current();
  GraphBuilder& b = trace.b;
  const Values scanned = values_of(xs);
  Values starts = {ops::constant(b, kIndex, 0)};
  for (Value* value : values_of(init)) starts.push_back(value);
  const size_t carried = starts.size();
  const int64_t iterations = iterations_of(scanned, options);
  const std::vector<TensorType> types = types_of(starts);

  std::vector<TensorType> stacks;
  auto recorded = trace.region(types, [&](Block& block) {
    Value* iteration = block.argument(0);
    Value* place = iteration;
    if (options.reverse) {
      place = ops::subtract(b, ops::constant(b, kIndex, static_cast<double>(iterations - 1)), iteration);
    }
    Tensors x;
    for (Value* all : scanned) {
      const Shape rest(all->type.shape.begin() + 1, all->type.shape.end());
      x.push_back(wrap(ops::reshape(b, ops::row_of(b, all, place), rest)));
    }
    const Scanned made = body(wrapped({block.arguments.data() + 1, carried - 1}), x);
    Values next = values_of(made.carry);
    check_carry("scan", next, std::span(types).subspan(1));
    next.insert(next.begin(), ops::add(b, iteration, ops::constant(b, kIndex, 1)));
    for (Value* y : values_of(made.ys)) {
      stacks.push_back({y->type.dtype, with_first(iterations, y->type.shape)});
      Value* row = ops::reshape(b, y, with_first(1, y->type.shape));
      Value* stack = block.add_argument(stacks.back(), "ys", b.location);
      next.push_back(ops::dynamic_update_slice(b, stack, row, starts_at(place, y->type.rank() + 1)));
    }
    return next;
  });
  for (const TensorType& type : stacks) starts.push_back(ops::constant(b, type, 0));
  auto condition = trace.region(types_of(starts), [&](Block& block) {
    Value* limit = ops::constant(b, kIndex, static_cast<double>(iterations));
    return Values{ops::compare(b, "LT", block.argument(0), limit)};
  });
  const Op* loop = b.create(kWhile, starts, {}, {}, pair(std::move(condition), std::move(recorded)));
  const std::span results(loop->results);
  return {wrapped(results.subspan(1, carried - 1)), wrapped(results.subspan(carried))};
}

Tensors cond(const In& predicate, const std::function<Tensors()>& then, const std::function<Tensors()>& otherwise) {
  const Scope scope(predicate.at);
  Value* value = value_of(predicate.tensor);
  if (value->type != kTruth)
    fail(fmt::format("cond: the predicate must be tensor<i1>, not {}", to_string(value->type)));
  return branches(kIf, value, {then, otherwise});
}

Tensor cond(const In& predicate, const std::function<Tensor()>& then, const std::function<Tensor()>& otherwise) {
  const auto several = [](const std::function<Tensor()>& one) { return [&one] { return Tensors{one()}; }; };
  return cond(predicate, several(then), several(otherwise))[0];
}

Tensors switch_case(const In& index, const std::vector<std::function<Tensors()>>& functions) {
  const Scope scope(index.at);
  Value* value = value_of(index.tensor, DType::kI32);
  if (value->type != kIndex) {
    fail(fmt::format("switch_case: the index must be tensor<i32>, not {}", to_string(value->type)));
  }
  if (functions.empty()) fail("switch_case: needs at least one branch");
  return branches(kCase, value, functions);
}

Tensors while_loop(const std::function<Tensor(Tensors)>& condition, const std::function<Tensors(Tensors)>& body,
                   const Tensors& init, Where at) {
  const Scope scope(at);
  Trace& trace = Trace::current();
  const Values starts = values_of(init);
  const std::vector<TensorType> types = types_of(starts);
  auto tested = trace.region(types, [&](Block& block) {
    Value* go_on = value_of(condition(wrapped(block.arguments)));
    if (go_on->type != kTruth) {
      fail(fmt::format("while_loop: the condition must be tensor<i1>, not {}", to_string(go_on->type)));
    }
    return Values{go_on};
  });
  auto recorded = trace.region(types, [&](Block& block) {
    const Values next = values_of(body(wrapped(block.arguments)));
    check_carry("while_loop", next, types);
    return next;
  });
  const Op* loop = trace.b.create(kWhile, starts, {}, {}, pair(std::move(tested), std::move(recorded)));
  return wrapped(loop->results);
}

}  // namespace ingot
