// Compile time against the size of the program: a table that should grow in proportion.
//
// `deep` is a chain of layers, each needing the one before; `wide` are layers side by side whose results are summed at
// the end; `long` is one chain of elementwise ops. A layer is a dot, a bias, tanh, a residual and a row's mean that is
// taken off; every eighth has a width of its own, so that kernels differ.
#include <benchmark/benchmark.h>

#include "aot/graph/builder.h"
#include "aot/ops/support/algebra.h"
#include "aot/pipeline/compile.h"

namespace ingot {
namespace {

constexpr int64_t kRows = 4, kWidth = 16;

int64_t count_ops(const Block& block) { return static_cast<int64_t>(block.ops.size()); }

// A function @main whose body `fill` makes from its first argument, a float matrix, to about `ops` ops.
class Author {
 public:
  explicit Author(int64_t ops) : wanted_(ops) {
    function_ = module_->add_function("main");
    argument({kRows, kWidth});
    b_.at_end(function_->body);
  }

  Value* argument(const Shape& shape) {
    const std::string name = "x" + std::to_string(function_->argument_count());
    function_->argument_attrs.push_back({{"ingot.name", Attr(name)}});
    return function_->body.add_argument({DType::kF32, shape}, name);
  }
  bool is_full() const { return count_ops(function_->body) >= wanted_; }

  // 9 ops.
  Value* layer(Value* value, int64_t number) {
    const int64_t width = number % 8 == 7 ? kWidth + number / 8 % 64 : kWidth;
    const Term x(b_, value);
    const Term inner(b_, ops::dot_general(b_, x, argument({kWidth, width}), {{}, {}, {1}, {0}}));
    const Term y(b_, ops::dot_general(b_, inner.unary(kTanh), argument({width, kWidth}), {{}, {}, {1}, {0}}));
    const Term sum = x + y;
    const Term mean = Term(b_, ops::reduce(b_, kAdd, sum, {1})) / double{kWidth};
    return sum - Term(b_, ops::broadcast_in_dim(b_, mean, {kRows, kWidth}, {0}));
  }

  std::unique_ptr<Module> finish(Value* result) {
    b_.create(kFuncReturn, {result});
    function_->results.push_back({result->type, {{"ingot.name", Attr("y")}}});
    return std::move(module_);
  }

  GraphBuilder& builder() { return b_; }
  Value* first() const { return function_->body.argument(0); }

 private:
  int64_t wanted_;
  std::unique_ptr<Module> module_ = std::make_unique<Module>();
  Function* function_;
  GraphBuilder b_;
};

std::unique_ptr<Module> deep(int64_t ops) {
  Author author(ops);
  Value* x = author.first();
  for (int64_t k = 0; !author.is_full(); ++k) x = author.layer(x, k);
  return author.finish(x);
}

std::unique_ptr<Module> wide(int64_t ops) {
  Author author(ops);
  Term sum(author.builder(), author.first());
  for (int64_t k = 0; !author.is_full(); ++k) sum = sum + Term(author.builder(), author.layer(author.first(), k));
  return author.finish(sum);
}

std::unique_ptr<Module> long_chain(int64_t ops) {
  Author author(ops);
  Term x(author.builder(), author.first());
  while (!author.is_full()) x = (x * x - 0.5).unary(kTanh);
  return author.finish(x);
}

void measure(benchmark::State& state, std::unique_ptr<Module> (*program)(int64_t ops)) {
  int64_t ops = 0, steps = 0;
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(program(state.range(0)));
    ops = count_ops(modules[0]->functions[0]->body);
    state.ResumeTiming();
    steps = static_cast<int64_t>(compile(std::move(modules), {}).plans[0][0].steps.size());
  }
  state.counters["ops"] = static_cast<double>(ops);
  state.counters["steps"] = static_cast<double>(steps);
  state.counters["us_per_op"] = benchmark::Counter(
      static_cast<double>(ops) * 1e-6, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

#define MEASURE(program)                                    \
  BENCHMARK_CAPTURE(measure, program, program)              \
      ->ArgsProduct({{100, 500, 2000, 5000, 10000, 20000}}) \
      ->Unit(benchmark::kMillisecond)                       \
      ->Iterations(1)                                       \
      ->UseRealTime()
MEASURE(deep);
MEASURE(wide);
MEASURE(long_chain);
#undef MEASURE

}  // namespace
}  // namespace ingot

BENCHMARK_MAIN();
