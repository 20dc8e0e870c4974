// Lowered kernels, one thread, beside the machine's peak of multiply-adds measured in the same run.
//
//   kernels [--benchmark_filter=dot]
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cmath>

#include "aot/ops/support/build.h"
#include "aot/ops/support/dimension_numbers.h"
#include "bench/measure.h"
#include "tests/support/schedule_fixture.h"

namespace ingot {
namespace {

TensorType f32(Shape shape) { return {DType::kF32, std::move(shape)}; }

// One kernel function; `flops` and `bytes` are what it does and moves.
void measure(benchmark::State& state, const KernelFunction& f, double flops, double bytes) {
  const loops::Target& target = loops::find_target("host");
  const Lowering lowering = lower(*f.kernel, target);
  const codegen::Executable code(compile_lowering(lowering, target));
  LoweringRun run(*f.kernel, lowering);
  std::vector<RefTensor> operands;
  for (const Value* operand : f.kernel->operands) {
    operands.emplace_back(operand->type);
    for (size_t k = 0; k < operands.back().f.size(); ++k) operands.back().f[k] = static_cast<double>(k % 17) / 17 - 0.5;
  }
  run.set_operands(operands);
  const double peak = bench::Peak().gflops();
  double best_ns = INFINITY;
  for (auto _ : state) {
    const double start_ns = bench::thread_ns();
    run.run(code, false);
    best_ns = std::min(best_ns, bench::thread_ns() - start_ns);
  }
  // Of the best round, since neighbours disturb.
  state.counters["best_us"] = best_ns / 1000;
  if (flops > 0) state.counters["GFLOP/s"] = flops / best_ns;
  if (flops > 0) state.counters["peak%"] = 100 * flops / best_ns / peak;
  if (bytes > 0) state.counters["GB/s"] = bytes / best_ns;
  state.SetLabel(fmt::format("peak {:.1f} GFLOP/s, {} steps", peak, lowering.steps.size()));
}

void dot(benchmark::State& state, int64_t m, int64_t n, int64_t k, bool lhs_t, bool rhs_t) {
  measure(state,
          kernel_function({f32(lhs_t ? Shape{k, m} : Shape{m, k}), f32(rhs_t ? Shape{n, k} : Shape{k, n})},
                          [&](GraphBuilder& b, const Values& x) {
                            return Values{ops::dot_general(b, x[0], x[1], {{}, {}, {lhs_t ? 0 : 1}, {rhs_t ? 1 : 0}})};
                          }),
          2.0 * static_cast<double>(m * n * k), 0);
}
BENCHMARK_CAPTURE(dot, 512x512x512, 512, 512, 512, false, false);
BENCHMARK_CAPTURE(dot, 512x512x512_lhs_transposed, 512, 512, 512, true, false);
BENCHMARK_CAPTURE(dot, 512x512x512_rhs_transposed, 512, 512, 512, false, true);
BENCHMARK_CAPTURE(dot, 1024x1024x1024, 1024, 1024, 1024, false, false);
BENCHMARK_CAPTURE(dot, 128x784x256, 128, 256, 784, false, false);
BENCHMARK_CAPTURE(dot, 784x256x128_lhs_transposed, 784, 256, 128, true, false);
BENCHMARK_CAPTURE(dot, 64x64x64, 64, 64, 64, false, false);
BENCHMARK_CAPTURE(dot, 32x10x128, 32, 10, 128, false, false);
BENCHMARK_CAPTURE(dot, 1x1024x1024, 1, 1024, 1024, false, false);

enum class Part { kForward, kInputGradient, kKernelGradient };

// 3x3, padding 1, NCHW: [64, 32, 28, 28] with 64 filters.
void convolution(benchmark::State& state, Part part) {
  const Shape x{64, 32, 28, 28}, w{64, 32, 3, 3}, y{64, 64, 28, 28};
  const ops::Window same{{.size = 3, .low = 1, .high = 1}, {.size = 3, .low = 1, .high = 1}};
  const std::vector<int64_t> spatial{2, 3};
  ops::Convolution nchw;
  nchw.dims = {0, 1, spatial, 1, 0, spatial, 0, 1, spatial};
  nchw.window = same;
  measure(state,
          kernel_function({f32(x), f32(w), f32(y)},
                          [&](GraphBuilder& b, const Values& a) {
                            Op* op = b.create(kConvolution, {a[0], a[1]}, ops::to_attrs(nchw), {f32(y)});
                            if (part == Part::kForward) return Values{op->result()};
                            Value* dy[] = {a[2]};
                            const bool needed[] = {part == Part::kInputGradient, part == Part::kKernelGradient};
                            GradientArgs args{b, *op, dy, needed};
                            return Values{op->def->gradient(args)[part == Part::kInputGradient ? 0 : 1]};
                          }),
          2.0 * 64 * 64 * 28 * 28 * 32 * 9, 0);
}
BENCHMARK_CAPTURE(convolution, forward, Part::kForward);
BENCHMARK_CAPTURE(convolution, input_gradient, Part::kInputGradient);
BENCHMARK_CAPTURE(convolution, kernel_gradient, Part::kKernelGradient);

void add(benchmark::State& state) {
  const int64_t n = state.range(0);
  measure(state,
          kernel_function({f32({n}), f32({n})},
                          [](GraphBuilder& b, const Values& x) { return Values{ops::add(b, x[0], x[1])}; }),
          0, 12.0 * static_cast<double>(n));
}
BENCHMARK(add)->Arg(1 << 12)->Arg(1 << 16)->Arg(1 << 22);

void softmax_rows(benchmark::State& state) {
  const Shape shape{512, 512};
  measure(state,
          kernel_function({f32(shape)},
                          [&](GraphBuilder& b, const Values& x) {
                            Value* max = ops::broadcast_in_dim(b, ops::reduce(b, kMaximum, x[0], {1}), shape, {0});
                            Value* e = ops::unary(b, kExponential, ops::subtract(b, x[0], max));
                            return Values{
                                ops::divide(b, e, ops::broadcast_in_dim(b, ops::reduce(b, kAdd, e, {1}), shape, {0}))};
                          }),
          0, 8.0 * 512 * 512);
}
BENCHMARK(softmax_rows);

void column_sums(benchmark::State& state) {
  measure(state,
          kernel_function({f32({4096, 256})},
                          [&](GraphBuilder& b, const Values& x) { return Values{ops::reduce(b, kAdd, x[0], {0})}; }),
          0, 4.0 * 4096 * 256);
}
BENCHMARK(column_sums);

void transpose(benchmark::State& state) {
  measure(state,
          kernel_function({f32({512, 512})},
                          [&](GraphBuilder& b, const Values& x) { return Values{ops::transpose(b, x[0], {1, 0})}; }),
          0, 8.0 * 512 * 512);
}
BENCHMARK(transpose);

}  // namespace
}  // namespace ingot

BENCHMARK_MAIN();
