// What this machine can do, and how near the contraction micro-kernel comes, in one run.
//
//   peak                       GFLOP/s of multiply-adds in registers, then of the micro-kernel on operands
//                              in the L1 cache
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "aot/codegen/compile.h"
#include "aot/codegen/disassemble.h"
#include "aot/codegen/execute.h"
#include "aot/loops/probe_kernels.h"
#include "tests/support/sample_kernels.h"

namespace ingot {
namespace {

using loops::Index;

// Runs every task of one kernel again and again; `flops` is what one round does.
void measure(benchmark::State& state, const loops::Kernel& kernel, double flops) {
  const codegen::Executable executable(codegen::compile(std::span(&kernel, 1), loops::find_target("host")));
  std::vector<std::byte*> buffers;
  for (const loops::Buffer& buffer : kernel.buffers) {
    const size_t bytes = (buffer.elements * info(buffer.dtype).bytes + 63) / 64 * 64;
    auto* const memory = static_cast<std::byte*>(std::aligned_alloc(INGOT_BUFFER_ALIGNMENT_BYTES, bytes));
    std::fill_n(reinterpret_cast<float*>(memory), bytes / sizeof(float), 0.5F);
    buffers.push_back(memory);
  }
  std::vector<ingot_operand> operands;
  for (uint32_t k = 0; k < buffers.size(); ++k) operands.push_back({.offset_bytes = 0, .base = k, .reserved = 0});
  const ingot_kernel_context context{reinterpret_cast<uint8_t* const*>(buffers.data()), operands.data(), nullptr};
  const ingot_kernel entry = executable.entry(0);
  for (auto _ : state) {
    for (uint32_t task = 0; task < kernel.task_count; ++task) entry(&context, task);
  }
  state.counters["GFLOP/s"] =
      benchmark::Counter(flops * static_cast<double>(state.iterations()) * 1e-9, benchmark::Counter::kIsRate);
  for (std::byte* const buffer : buffers) std::free(buffer);
}

void fma_peak(benchmark::State& state) {
  constexpr int64_t kChains = 12, kTrips = 10000;
  const int lanes = loops::find_target("host").lanes(DType::kF32);
  measure(state, loops::multiply_adds(DType::kF32, lanes, kChains, kTrips), 2.0 * kChains * kTrips * lanes);
}
BENCHMARK(fma_peak);

void micro_kernel(benchmark::State& state) {
  const loops::Target& target = loops::find_target("host");
  const loops::RegisterTile& tile = target.tile(DType::kF32);
  const int lanes = target.lanes(DType::kF32);
  const loops::MicroKernelShape shape{.m = 4 * tile.rows,
                                      .n = tile.columns,
                                      .k = 256,
                                      .rows = tile.rows,
                                      .vectors = tile.columns / lanes,
                                      .lanes = lanes};
  const loops::Kernel kernel = loops::dot_bias_relu(shape);
  const codegen::CodeImage image = codegen::compile(std::span(&kernel, 1), target);
  const codegen::HotLoop loop = codegen::find_hot_loop(image, target, codegen::entry_symbol(std::span(&kernel, 1), 0));
  state.SetLabel(fmt::format("{}x{} tile, {} instructions for {} multiply-adds, {} stack references", tile.rows,
                             tile.columns, loop.instructions, loop.multiply_adds, loop.stack_references));
  measure(state, kernel, 2.0 * static_cast<double>(shape.m * shape.n * shape.k));
}
BENCHMARK(micro_kernel);

}  // namespace
}  // namespace ingot

BENCHMARK_MAIN();
