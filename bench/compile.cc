// How long code generation takes: a training step's worth of kernels, and each kind alone.
#include "aot/codegen/compile.h"

#include <benchmark/benchmark.h>

#include <vector>

#include "tests/support/sample_kernels.h"

namespace ingot {
namespace {

void measure(benchmark::State& state, const std::vector<loops::Kernel>& kernels) {
  size_t bytes = 0;
  for (auto _ : state) bytes = codegen::compile(kernels, loops::find_target("x86-64-v3")).bytes.size();
  state.counters["code_bytes"] = static_cast<double>(bytes);
  state.counters["kernels"] = static_cast<double>(kernels.size());
}

void training_step(benchmark::State& state) {
  std::vector<loops::Kernel> kernels;
  for (int64_t k = 0; k < 9; ++k) kernels.push_back(loops::dot_bias_relu({.m = 128 + k, .n = 256 + 10 * k, .k = 784}));
  for (int64_t k = 0; k < 11; ++k) kernels.push_back(loops::adam(10000 + k));
  measure(state, kernels);
}
BENCHMARK(training_step)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

void one_dot(benchmark::State& state) { measure(state, {loops::dot_bias_relu({.m = 128, .n = 256, .k = 784})}); }
BENCHMARK(one_dot)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

void one_dot_with_edges(benchmark::State& state) {
  measure(state, {loops::dot_bias_relu({.m = 128, .n = 250, .k = 783})});
}
BENCHMARK(one_dot_with_edges)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

void one_adam(benchmark::State& state) { measure(state, {loops::adam(10000)}); }
BENCHMARK(one_adam)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

}  // namespace
}  // namespace ingot

BENCHMARK_MAIN();
