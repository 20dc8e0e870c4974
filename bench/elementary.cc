// Elementary functions as vector code, one thread, on 4096 elements that stay in the nearest cache.
//
//   elementary [--benchmark_filter=sin]
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "aot/codegen/compile.h"
#include "aot/loops/builder.h"
#include "bench/measure.h"

namespace ingot::loops {
namespace {

constexpr int64_t kElements = 4096;

Kernel kernel_of(ScalarOp op, DType dtype, int lanes) {
  KernelBuilder b(std::string(info(op).text), lanes);
  const BufferId x = b.input("x", dtype, kElements), y = b.output("y", dtype, kElements);
  b.loop("i", 0, kElements, lanes, [&](const Index& i) {
    const Expr at = b.load(x, i + b.lane());
    b.store(y, i + b.lane(), b.apply(op, std::vector<Expr>(info(op).arity, at)));
  });
  return b.finish();
}

template <typename T>
struct alignas(INGOT_BUFFER_ALIGNMENT_BYTES) Elements {
  T values[kElements];
};

// op(x), or op(x, x), for x evenly spread over (0, most).
template <typename T>
void elementary(benchmark::State& state, ScalarOp op, double most) {
  constexpr DType dtype = sizeof(T) == 4 ? DType::kF32 : DType::kF64;
  constexpr int kRepeats = 20;
  const Target& target = find_target("host");
  const Kernel kernel = kernel_of(op, dtype, target.lanes(dtype));
  const codegen::Executable code(codegen::compile(std::span(&kernel, 1), target));
  const auto x = std::make_unique<Elements<T>>(), y = std::make_unique<Elements<T>>();
  for (int64_t k = 0; k < kElements; ++k) x->values[k] = static_cast<T>(most * (k + 0.5) / kElements);
  std::byte* const buffers[] = {reinterpret_cast<std::byte*>(x.get()), reinterpret_cast<std::byte*>(y.get())};
  double best_ns = INFINITY;
  for (auto _ : state) {
    const double start_ns = bench::thread_ns();
    for (int repeat = 0; repeat < kRepeats; ++repeat) code.run(0, buffers, 0);
    best_ns = std::min(best_ns, bench::thread_ns() - start_ns);
  }
  state.counters["ns/element"] = best_ns / (kRepeats * kElements);
}

constexpr ScalarOp kFunctions[] = {
#define MATH_OP(enumerator, name, arity, meaning) ScalarOp::enumerator,
#include "aot/loops/scalar_ops.def"
};

// Where the function's domain ends, for those that have no numbers beyond 1.
double greatest_argument(ScalarOp op) {
  constexpr ScalarOp kOfUnitInterval[] = {ScalarOp::kErfInv, ScalarOp::kAsin, ScalarOp::kAcos, ScalarOp::kAtanh};
  return std::ranges::find(kOfUnitInterval, op) == std::end(kOfUnitInterval) ? 10 : 1;
}

void register_all() {
  for (const ScalarOp op : kFunctions) {
    const std::string name(info(op).text);
    const double most = greatest_argument(op);
    benchmark::RegisterBenchmark((name + "/f32").c_str(), elementary<float>, op, most);
    benchmark::RegisterBenchmark((name + "/f64").c_str(), elementary<double>, op, most);
  }
  benchmark::RegisterBenchmark("sin/f32/large", elementary<float>, ScalarOp::kSin, 1e30);
  benchmark::RegisterBenchmark("sin/f64/large", elementary<double>, ScalarOp::kSin, 1e200);
}

}  // namespace
}  // namespace ingot::loops

int main(int argc, char** argv) {
  ingot::loops::register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
