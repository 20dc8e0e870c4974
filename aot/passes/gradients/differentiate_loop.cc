// The gradient of a loop whose iterations are counted: a loop through the iterations from the last to the first. An iteration
// computes again what it needs of the forward iteration, from the values that the forward loop saves: what it carried into
// each iteration, and the results of contractions, each in a stack of all iterations.
#include <fmt/format.h>

#include <algorithm>

#include "aot/analysis/regions.h"
#include "aot/analysis/trip_count.h"
#include "aot/analysis/walk.h"
#include "aot/base/contains.h"
#include "aot/ops/support/build.h"
#include "aot/passes/gradients/differentiate.h"
#include "aot/passes/gradients/differentiate_block.h"

namespace ingot {
namespace {

bool is_zero(const Value* value) {
  const LiteralRef literal = constant_of(value);
  return literal && literal->is_splat && is_float(literal->type.dtype) && literal->float_at(0) == 0;
}

// sum + gradient. Where the gradient is a window within zeros only the window is touched, so that an iteration costs what it
// reads of an array and not the array.
Value* add_into(GraphBuilder& b, Value* sum, Value* gradient) {
  const Op* op = gradient->op;
  if (op && op->is(kDynamicUpdateSlice) && is_zero(op->operand(0))) {
    const Values starts(op->operands.begin() + 2, op->operands.end());
    Value* window = ops::dynamic_slice(b, sum, starts, op->operand(1)->type.shape);
    return ops::dynamic_update_slice(b, sum, ops::add(b, window, op->operand(1)), starts);
  }
  if (op && op->is(kAdd) && gradient->uses.empty()) {
    return add_into(b, add_into(b, sum, op->operand(0)), op->operand(1));
  }
  return ops::add(b, sum, gradient);
}

class LoopGradient {
 public:
  LoopGradient(GraphBuilder& b, Op& loop, const Counter& counter, const ValueSet& active, const ValueSet& constants)
      : b_(b),
        loop_(loop),
        body_(loop.region(1)),
        counter_(counter),
        index_{body_.argument(counter.index)->type.dtype, {}},
        constants_(constants),
        count_(static_cast<int>(loop.operands.size())),
        flows_(count_) {
    for (Value* value : captured_values(body_)) {
      if (active.contains(value)) sums_.push_back(value);
    }
    for (int j = 0; j < count_; ++j) {
      if (is_constant(j) && active.contains(loop.operand(j)) && !contains(sums_, loop.operand(j)))
        sums_.push_back(loop.operand(j));
    }
    find_flows(active);
  }

  // Makes the loop; `accumulate` takes the gradients of what the forward loop reads.
  template <typename Accumulate>
  void make(const Values& result_gradients, const Accumulate& accumulate) {
    auto backward = std::make_unique<Block>();
    make_body(*backward);
    Values starts = {ops::constant(b_, index_, 0)};
    for (int j = 0; j < count_; ++j) {
      if (flows_[j])
        starts.push_back(result_gradients[j] ? result_gradients[j] : ops::zeros_like(b_, loop_.operand(j)));
    }
    for (const Value* value : sums_) starts.push_back(ops::zeros_like(b_, value));
    auto condition = std::make_unique<Block>();
    GraphBuilder c;
    c.at_end(*condition);
    for (const Value* start : starts) condition->add_argument(start->type);
    Value* limit = ops::constant(c, index_, static_cast<double>(counter_.trips()));
    c.create(kStablehloReturn, {ops::compare(c, "LT", condition->argument(0), limit)});
    std::vector<std::unique_ptr<Block>> regions;
    regions.push_back(std::move(condition));
    regions.push_back(std::move(backward));
    const Op* made = b_.create(kWhile, starts, {}, {}, std::move(regions));
    int next = 1;
    for (int j = 0; j < count_; ++j) {
      if (is_constant(j) && result_gradients[j]) accumulate(loop_.operand(j), result_gradients[j]);
      if (flows_[j]) accumulate(loop_.operand(j), made->result(next++));
    }
    for (const Value* value : sums_) accumulate(value, made->result(next++));
  }

 private:
  bool is_constant(int j) const { return body_.terminator()->operand(j) == body_.argument(j); }

  ValueSet sources() const {
    ValueSet from(sums_.begin(), sums_.end());
    for (int j = 0; j < count_; ++j) {
      if (flows_[j]) from.insert(body_.argument(j));
    }
    return from;
  }

  // Carried values through which something flows back: into the loop, or from iteration to iteration.
  void find_flows(const ValueSet& active) {
    for (bool again = true; again;) {
      again = false;
      const ValueSet inside = active_values(sources(), body_, constants_);
      for (int j = 0; j < count_; ++j) {
        if (flows_[j] || is_constant(j) || !is_float(body_.argument(j)->type.dtype)) continue;
        if (!active.contains(loop_.operand(j)) && !inside.contains(body_.terminator()->operand(j))) continue;
        flows_[j] = again = true;
      }
    }
  }

  // A value of the forward iteration, which the backward iteration reads as an argument until it is known to be needed.
  struct Saved {
    Value* value;
    Value* argument;
  };

  void make_body(Block& backward) {
    GraphBuilder b;
    b.location = b_.location;
    b.at_end(backward);
    Value* iteration = backward.add_argument(index_);
    Values gradients(count_, nullptr), sums;
    for (int j = 0; j < count_; ++j) {
      if (flows_[j]) gradients[j] = backward.add_argument(body_.argument(j)->type);
    }
    for (const Value* value : sums_) sums.push_back(backward.add_argument(value->type));
    const int kept = static_cast<int>(backward.arguments.size());
    std::vector<Saved> saved;
    const auto save = [&](Value* value) {
      saved.push_back({value, backward.add_argument(value->type)});
      return saved.back().argument;
    };

    ValueMap map;
    ValueSet from(sums_.begin(), sums_.end());
    for (int j = 0; j < count_; ++j) {
      Value* argument = body_.argument(j);
      map[argument] = j == counter_.index ? counted(b, forward_iteration(b, iteration))
                      : is_constant(j)    ? loop_.operand(j)
                                          : save(argument);
      if (flows_[j]) from.insert(map[argument]);
    }
    BlockGradient gradient(b, body_, map, from, constants_);
    for (int j = 0; j < count_; ++j) {
      if (flows_[j]) gradient.seed(j, gradients[j]);
    }
    gradient.run();
    for (const auto& op : body_.ops) {
      if (op->def->root == KernelRoot::kContraction) {
        replace_all_uses(gradient.copy_of(op->result()), save(op->result()));
      }
    }

    Values next = {ops::add(b, iteration, ops::constant(b, index_, 1))};
    for (int j = 0; j < count_; ++j) {
      if (!flows_[j]) continue;
      Value* found = gradient.find(map.at(body_.argument(j)));
      next.push_back(found ? found : ops::zeros_like(b, gradients[j]));
    }
    for (size_t k = 0; k < sums_.size(); ++k) {
      Value* found = gradient.find(sums_[k]);
      next.push_back(found ? add_into(b, sums[k], found) : sums[k]);
    }
    b.create(kStablehloReturn, next);
    erase_unread(backward);

    if (std::ranges::any_of(saved, [](const Saved& it) { return !it.argument->uses.empty(); })) {
      b.before(*backward.ops.front());
      Value* at = forward_iteration(b, iteration);
      for (const Saved& it : saved) {
        if (!it.argument->uses.empty()) replace_all_uses(it.argument, load(b, stacked(it.value), at));
      }
    }
    backward.arguments.resize(kept);
  }

  // The number of the forward iteration that this one goes back through.
  Value* forward_iteration(GraphBuilder& b, Value* iteration) const {
    return ops::subtract(b, ops::constant(b, index_, static_cast<double>(counter_.trips() - 1)), iteration);
  }

  // What the forward loop's counter is in its iteration.
  Value* counted(GraphBuilder& b, Value* iteration) const {
    Value* value = iteration;
    if (counter_.step != 1)
      value = ops::multiply(b, value, ops::constant(b, index_, static_cast<double>(counter_.step)));
    if (counter_.start != 0) value = ops::add(b, value, ops::constant(b, index_, static_cast<double>(counter_.start)));
    return value;
  }

  Shape stack_shape(const Value* value, int64_t iterations) const {
    Shape shape = value->type.shape;
    shape.insert(shape.begin(), iterations);
    return shape;
  }

  Values starts_at(GraphBuilder& b, Value* iteration, int64_t rank) const {
    Values starts = {iteration};
    if (rank > 0) starts.resize(rank + 1, ops::constant(b, index_, 0));
    return starts;
  }

  // All iterations' values of a value of the forward body: a result of the forward loop.
  Value* stacked(Value* value) {
    GraphBuilder f;
    f.location = loop_.location;
    f.before(loop_);
    Value* zeros = ops::constant(f, {value->type.dtype, stack_shape(value, counter_.trips())}, 0);
    const int stack = add_carried(loop_, zeros, "saved");
    Value* iteration = iterations_so_far(f);
    f.before(*body_.terminator());
    Value* row = ops::reshape(f, value, stack_shape(value, 1));
    set_next(loop_, stack,
             ops::dynamic_update_slice(f, body_.argument(stack), row, starts_at(f, iteration, value->type.rank())));
    return loop_.result(stack);
  }

  Value* load(GraphBuilder& b, Value* stack, Value* iteration) const {
    const Shape& shape = stack->type.shape;
    return ops::reshape(b, ops::row_of(b, stack, iteration), Shape(shape.begin() + 1, shape.end()));
  }

  // Within the forward body: 0, 1, 2, ...
  Value* iterations_so_far(GraphBuilder& f) {
    if (counter_.start == 0 && counter_.step == 1) return body_.argument(counter_.index);
    if (!round_) {
      const int carried = add_carried(loop_, ops::constant(f, index_, 0), "iteration");
      round_ = body_.argument(carried);
      f.before(*body_.terminator());
      set_next(loop_, carried, ops::add(f, round_, ops::constant(f, index_, 1)));
    }
    return round_;
  }

  GraphBuilder& b_;
  Op& loop_;
  Block& body_;
  const Counter counter_;
  const TensorType index_;
  const ValueSet& constants_;
  const int count_;          // of carried values, before any is added
  std::vector<bool> flows_;  // by carried value
  Values sums_;              // outside values that get a gradient from every iteration
  Value* round_ = nullptr;
};

}  // namespace

void Differentiator::visit_loop(Op& loop, const Values& result_gradients) {
  const std::optional<Counter> counter = counter_of(loop);
  if (!counter) {
    throw_error(loop.location,
                "stablehlo.while: only a loop whose iterations are counted by constants has a gradient; use scan, or "
                "detach() what goes in or comes out");
  }
  if (counter->trips() == 0) {
    for (size_t j = 0; j < result_gradients.size(); ++j) {
      if (result_gradients[j]) accumulate(loop.operands[j], result_gradients[j]);
    }
    return;
  }
  LoopGradient gradient(b_, loop, *counter, active_, constants_);
  gradient.make(result_gradients, [&](const Value* value, Value* found) {
    if (active_.contains(value)) accumulate(value, found);
  });
}

}  // namespace ingot
