// Recurrences that were unrolled, and their gradients as PyTorch unrolls them, mean the same as loops, which have all of
// the iterations, or all but one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "aot/analysis/regions.h"
#include "aot/analysis/walk.h"
#include "aot/graph/evaluate.h"
#include "aot/graph/text/print.h"
#include "aot/graph/verify.h"
#include "aot/ops/support/build.h"
#include "aot/passes/pass.h"
#include "aot/pipeline/passes.h"
#include "tests/support/random_tensor.h"

namespace ingot {
namespace {

constexpr DType kType = DType::kI64;  // sums are exact, in whatever order
constexpr int64_t kRows = 2, kColumns = 4;

enum class Program : uint8_t {
  kRecurrence,
  kWithGaps,      // rows have every second column of what is read
  kOfEveryState,  // behind it another one reads what the first was handed and what the last hands on
};

// A program of the iterations of a random cell, one after the other.
class Unrolled {
 public:
  Unrolled(uint64_t seed, Program program)
      : program_(program),
        stride_(program == Program::kWithGaps ? 2 : 1),
        random_(seed),
        module_(std::make_unique<Module>()) {
    function_ = module_->add_function("main");
    b_.at_end(function_->body);
  }

  std::unique_ptr<Module> make() {
    steps_ = between(10, 15);
    by_columns_ = flip();
    const int64_t columns = stride_ * kColumns;
    xs_ = argument(by_columns_ ? Shape{kRows, steps_, columns} : Shape{steps_, kRows, columns});
    weights_ = argument({kColumns, kColumns});
    bias_ = argument({kColumns});
    draw_cell();
    run_forward();
    if (program_ == Program::kOfEveryState) {
      read_every_state();
    } else if (flip()) {
      run_backward();
    }
    for (const Value* result : results_) function_->results.push_back({result->type, {}});
    b_.create(kFuncReturn, results_);
    erase_unread(function_->body);
    return std::move(module_);
  }

  int loop_count() const { return has_backward_ ? 2 : 1; }

 private:
  enum class Make : uint8_t { kDot, kAdd, kMultiply, kHalves, kBias, kSum, kCount };

  // One op, or a few, of values that are there before it.
  struct Step {
    Make make;
    int a, b;
  };

  int64_t between(int64_t low, int64_t high) { return low + static_cast<int64_t>(random_() % (high - low + 1)); }
  bool flip() { return random_() % 2 == 0; }

  Value* argument(const Shape& shape) {
    function_->argument_attrs.emplace_back();
    return function_->body.add_argument({kType, shape}, fmt::format("x{}", function_->body.arguments.size()));
  }

  // States, what is read of the sequence, then what each step makes.
  void draw_cell() {
    state_count_ = static_cast<int>(between(1, 3));
    int made = state_count_ + 1;
    const auto any = [&] { return static_cast<int>(between(0, made - 1)); };
    cell_.push_back({Make::kDot, 0, 0});
    ++made;
    for (int64_t left = between(2, 6); left > 0; --left, ++made) {
      cell_.push_back({static_cast<Make>(between(0, static_cast<int>(Make::kCount) - 1)), any(), any()});
    }
    // Each state is of the sequence and of itself, so that none is the same in all iterations; the first of a product.
    for (int s = 0; s < state_count_; ++s, ++made) {
      cell_.push_back({Make::kAdd, state_count_, s == 0 ? state_count_ + 1 : any()});
      next_.push_back(made);
    }
    for (int s = 0; s < state_count_; ++s) cell_.push_back({Make::kAdd, s, next_[s]}), next_[s] = made++;
  }

  Value* make(const Step& step, const Values& made) {
    Value *a = made[step.a], *b = made[step.b];
    switch (step.make) {
      case Make::kDot:
        return ops::dot_general(b_, a, weights_, {{}, {}, {1}, {0}});
      case Make::kAdd:
        return ops::add(b_, a, b);
      case Make::kMultiply:
        return ops::multiply(b_, a, b);
      case Make::kBias:
        return ops::add(b_, a, ops::broadcast_in_dim(b_, bias_, a->type.shape, {1}));
      case Make::kSum: {
        Value* sums = ops::reduce(b_, kAdd, a, {1});
        return ops::add(b_, b, ops::broadcast_in_dim(b_, sums, b->type.shape, {0}));
      }
      default: {
        Value* left = ops::slice(b_, a, {0, 0}, {kRows, kColumns / 2}, {1, 1});
        Value* right = ops::slice(b_, b, {0, kColumns / 2}, {kRows, kColumns}, {1, 1});
        return ops::concatenate(b_, {right, left}, 1);
      }
    }
  }

  Value* row(Value* sequence, int64_t t) {
    Shape start(3), limit = sequence->type.shape;
    const int dim = by_columns_ ? 1 : 0;
    start[dim] = t;
    limit[dim] = t + 1;
    return ops::reshape(b_, ops::slice(b_, sequence, start, limit, {1, 1, stride_}), {kRows, kColumns});
  }

  void run_forward() {
    Values state;
    for (int s = 0; s < state_count_; ++s) {
      state.push_back(flip() ? argument({kRows, kColumns}) : ops::constant(b_, {kType, {kRows, kColumns}}, 0));
    }
    const bool is_reversed = flip(), reads_before = flip();
    Values rows;
    for (int64_t t = 0; reads_before && t < steps_; ++t) rows.push_back(row(xs_, t));
    for (int64_t i = 0; i < steps_; ++i) {
      const int64_t t = is_reversed ? steps_ - 1 - i : i;
      Values made = state;
      made.push_back(reads_before ? rows[t] : row(xs_, t));
      for (const Step& step : cell_) made.push_back(make(step, made));
      for (int s = 0; s < state_count_; ++s) state[s] = made[next_[s]];
      forward_.push_back(std::move(made));
    }
    results_ = state;
    if (flip()) results_.push_back(forward_[between(0, steps_ - 1)].back());
    if (flip()) results_.push_back(joined(next_[0], flip(), between(0, 2)));
  }

  // What all iterations made, one behind the other along a dimension.
  Value* joined(int made, bool is_reversed, int64_t dim) {
    Shape shape = {kRows, kColumns};
    shape.insert(shape.begin() + dim, 1);
    Values parts;
    for (int64_t i = 0; i < steps_; ++i) {
      parts.push_back(ops::reshape(b_, forward_[is_reversed ? steps_ - 1 - i : i][made], shape));
    }
    return ops::concatenate(b_, parts, dim);
  }

  void read_every_state() {
    Value* sum = results_[0];
    for (int64_t i = steps_ - 1; i >= 0; --i) {
      sum = ops::add(b_, forward_[i][0], ops::dot_general(b_, sum, weights_, {{}, {}, {1}, {1}}));
    }
    for (const Values& made : forward_) {
      sum = ops::add(b_, made[0], ops::dot_general(b_, sum, weights_, {{}, {}, {1}, {0}}));
    }
    sum = ops::add(b_, results_[0], ops::dot_general(b_, sum, weights_, {{}, {}, {1}, {0}}));
    results_.push_back(sum);
  }

  // From the last iteration to the first: what is handed back, of a row of its own, of what the iteration was handed,
  // and of something that it made; sums of it, and of its place in the sequence.
  void run_backward() {
    has_backward_ = true;
    Value* ys = argument(xs_->type.shape);
    Values rows;
    for (int64_t t = 0, count = flip() ? steps_ : 0; t < count; ++t) rows.push_back(row(ys, t));
    const auto row_of = [&](int64_t t) { return rows.empty() ? row(ys, t) : rows[t]; };
    Value* back = row_of(steps_ - 1);
    Value *sum = nullptr, *spread = nullptr;
    const int kept = static_cast<int>(between(state_count_, std::ssize(forward_[0]) - 1));
    const bool pads = flip();
    Shape low(3), high(3);
    const auto add = [&](Value* to, Value* term) { return to ? ops::add(b_, to, term) : term; };
    for (int64_t i = steps_ - 1; i >= 0; --i) {
      Value* term = ops::multiply(b_, back, forward_[i][0]);
      Value* product = ops::multiply(b_, term, forward_[i][kept]);
      sum = add(sum, ops::dot_general(b_, product, term, {{}, {}, {0}, {0}}));
      if (pads) {
        const int dim = by_columns_ ? 1 : 0;
        low[dim] = i;
        high[dim] = steps_ - 1 - i;
        Shape shape = {kRows, kColumns};
        shape.insert(shape.begin() + dim, 1);
        Value* zero = ops::constant(b_, {kType, {}}, 0);
        spread = add(spread, ops::pad(b_, ops::reshape(b_, product, shape), zero, low, high, {0, 0, 0}));
      }
      if (i == 0) break;
      back = ops::add(b_, row_of(i - 1), ops::dot_general(b_, product, weights_, {{}, {}, {1}, {1}}));
    }
    results_.push_back(sum);
    if (spread) results_.push_back(spread);
  }

  const Program program_;
  const int64_t stride_;
  std::mt19937_64 random_;
  std::unique_ptr<Module> module_;
  Function* function_;
  GraphBuilder b_;
  int64_t steps_ = 0;
  bool by_columns_ = false, has_backward_ = false;
  Value *xs_ = nullptr, *weights_ = nullptr, *bias_ = nullptr;
  int state_count_ = 0;
  std::vector<Step> cell_;
  std::vector<int> next_;        // of each state
  std::vector<Values> forward_;  // of each iteration
  Values results_;
};

int count(const Block& block, const OpDef& kind) {
  return static_cast<int>(std::ranges::count_if(block.ops, [&](const auto& op) { return op->is(kind); }));
}

void expect_same_results(const Module& before, const Module& after) {
  const std::vector<RefTensor> arguments = random_arguments(*before.functions[0], 1);
  expect_equal(evaluate(*after.functions[0], arguments), evaluate(*before.functions[0], arguments));
}

TEST(RollLoops, RollsRandomRecurrences) {
  constexpr int kSeeds = 400;
  int whole_count = 0;
  for (uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    Unrolled unrolled(seed, Program::kRecurrence);
    const auto before = unrolled.make();
    const auto after = copy_module(*before);
    PassContext context;
    EXPECT_TRUE(roll_loops(*after, context)) << print(*before);
    verify(*after);
    SCOPED_TRACE(fmt::format("seed {}\n{}\nbecame\n{}", seed, print(*before), print(*after)));
    expect_same_results(*before, *after);
    const Block& body = after->functions[0]->body;
    EXPECT_FALSE(roll_loops(*after, context)) << "not idempotent";
    EXPECT_EQ(count(body, kWhile), unrolled.loop_count());
    EXPECT_LE(count(body, kDotGeneral), 3) << "of one iteration";
    whole_count += count(body, kDotGeneral) == 0;
    std::vector<PassRow> rows = {*find_pass("canonicalize"), *find_pass("sink_rows")};
    run_passes(rows, *after, context);
    expect_same_results(*before, *after);
  }
  EXPECT_GE(whole_count, kSeeds / 2);
}

TEST(RollLoops, LeavesWindowsWithGaps) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto module = Unrolled(seed, Program::kWithGaps).make();
    PassContext context;
    EXPECT_FALSE(roll_loops(*module, context)) << print(*module);
  }
}

TEST(RollLoops, ReadsTheFirstStateAndTheLast) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const auto before = Unrolled(seed, Program::kOfEveryState).make();
    const auto after = copy_module(*before);
    PassContext context;
    EXPECT_TRUE(roll_loops(*after, context));
    SCOPED_TRACE(fmt::format("seed {}\n{}\nbecame\n{}", seed, print(*before), print(*after)));
    expect_same_results(*before, *after);
  }
}

}  // namespace
}  // namespace ingot
