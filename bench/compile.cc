// How long code generation takes: a training step's worth of kernels, and each kind alone.
#include "aot/codegen/compile.h"

#include <benchmark/benchmark.h>

#include <vector>

#include "tests/sample_kernels.h"

namespace ingot {
namespace {

using loops::Index;
using loops::ScalarOp;

// Adam on `elements` parameters, with a masked edge.
loops::Kernel adam(int64_t elements) {
  constexpr int kLanes = 8;
  loops::KernelBuilder b("adam", kLanes);
  const auto f = [&](double value) { return b.constant(DType::kF32, value); };
  const auto multiply = [&](loops::Expr x, loops::Expr y) { return b.apply(ScalarOp::kMultiply, {x, y}); };
  const loops::BufferId gradient = b.input("gradient", DType::kF32, elements);
  const loops::BufferId rate = b.input("rate", DType::kF32, 1);
  std::vector<loops::BufferId> in, out;
  for (const char* const name : {"p", "m", "v"}) in.push_back(b.input(name, DType::kF32, elements));
  for (const char* const name : {"p.new", "m.new", "v.new"}) {
    out.push_back(b.output(name, DType::kF32, elements, in[out.size()]));
  }
  b.set_task_count((elements + 4095) / 4096);
  b.loop("i", b.task() * 4096, elements, kLanes,
         [&](Index i) {
           const Index at = i + b.lane();
           const loops::Expr mask = b.in_range(at, 0, elements);
           const loops::Expr g = b.load(gradient, at, mask);
           const loops::Expr m = b.apply(ScalarOp::kFma, {f(0.9), b.load(in[1], at, mask), multiply(f(0.1), g)});
           const loops::Expr v =
               b.apply(ScalarOp::kFma, {f(0.999), b.load(in[2], at, mask), multiply(f(0.001), multiply(g, g))});
           const loops::Expr root = b.apply(ScalarOp::kAdd, {b.apply(ScalarOp::kSqrt, {v}), f(1e-8)});
           const loops::Expr step = b.apply(ScalarOp::kDivide, {multiply(b.load(rate, 0), m), root});
           b.store(out[0], at, b.apply(ScalarOp::kSubtract, {b.load(in[0], at, mask), step}), mask);
           b.store(out[1], at, m, mask);
           b.store(out[2], at, v, mask);
         },
         {b.task() * 4096 + 4096});
  return b.finish();
}

void measure(benchmark::State& state, const std::vector<loops::Kernel>& kernels) {
  size_t bytes = 0;
  for (auto _ : state) bytes = codegen::compile(kernels, loops::find_target("x86-64-v3")).bytes.size();
  state.counters["code_bytes"] = static_cast<double>(bytes);
  state.counters["kernels"] = static_cast<double>(kernels.size());
}

void training_step(benchmark::State& state) {
  std::vector<loops::Kernel> kernels;
  for (int64_t k = 0; k < 9; ++k) kernels.push_back(loops::dot_bias_relu({.m = 128 + k, .n = 256 + 10 * k, .k = 784}));
  for (int64_t k = 0; k < 11; ++k) kernels.push_back(adam(10000 + k));
  measure(state, kernels);
}
BENCHMARK(training_step)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

void one_dot(benchmark::State& state) { measure(state, {loops::dot_bias_relu({.m = 128, .n = 256, .k = 784})}); }
BENCHMARK(one_dot)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

void one_dot_with_edges(benchmark::State& state) {
  measure(state, {loops::dot_bias_relu({.m = 128, .n = 250, .k = 783})});
}
BENCHMARK(one_dot_with_edges)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

void one_adam(benchmark::State& state) { measure(state, {adam(10000)}); }
BENCHMARK(one_adam)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

}  // namespace
}  // namespace ingot

BENCHMARK_MAIN();
