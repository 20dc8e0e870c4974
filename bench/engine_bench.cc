// What the engine itself costs: a step, a meeting of threads, opening a bundle, saving and loading state.
#include <benchmark/benchmark.h>

#include <cstring>
#include <ingot/engine.hpp>

#include "schema/checksum.h"
#include "schema/kernel_abi.h"
#include "tests/engine/engine_fixture.h"

namespace ingot {
namespace {

constexpr int kStepCount = 1000;

engine::AlignedBytes aligned(const std::vector<std::byte>& bytes) {
  engine::AlignedBytes copy(bytes.size(), 64);
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  return copy;
}

// One entry point of many steps, each behind a barrier: one that repeats the last step of `entry`.
bundle::BundleSpec repeating_spec(test::FitEntry entry) {
  bundle::BundleSpec spec = test::fit_spec();
  spec.states[test::kWeight].start = bundle::Start::kZero;
  spec.entries = {spec.entries[entry]};
  bundle::Step step = spec.targets[0].plans[entry].steps.back();
  step.barrier = true;
  bundle::Plan plan;
  plan.steps.assign(kStepCount, step);
  spec.targets[0].plans = {plan};
  return spec;
}

// A counter is counted up: one task a step.
bundle::BundleSpec counting_spec() {
  bundle::BundleSpec spec = repeating_spec(test::kTrainStep);
  spec.entries[0] = {"count", {}, {}};
  return spec;
}

void run_steps(benchmark::State& state, const bundle::BundleSpec& spec) {
  const engine::AlignedBytes bytes = aligned(bundle::write_bundle(spec));
  const engine::Bundle bundle(std::span<const std::byte>(bytes.data(), bytes.size()));
  engine::Session session(bundle, static_cast<uint32_t>(state.range(0)));
  const engine::Entry entry = session.entry(0);
  for (auto _ : state) entry.run();
  state.counters["per_step"] = benchmark::Counter(static_cast<double>(state.iterations()) * kStepCount,
                                                  benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["sleeps"] = static_cast<double>(session.metrics().sleeps);
}

// A step of one task that does next to nothing: what the walk costs.
void serial_step(benchmark::State& state) { run_steps(state, counting_spec()); }
BENCHMARK(serial_step)->Arg(1)->Arg(2)->UseRealTime();

// A step of eight tasks, 128 multiplications each, and a meeting of the threads.
void parallel_step(benchmark::State& state) { run_steps(state, repeating_spec(test::kPredict)); }
BENCHMARK(parallel_step)->Arg(1)->Arg(2)->UseRealTime();

// Probe, verify a plan of 1000 steps, map the code of a bundle file.
void open_file(benchmark::State& state) {
  const TemporaryFolder directory;
  const std::string path = directory.file("count.ingot");
  bundle::write_bundle_file(counting_spec(), path);
  for (auto _ : state) benchmark::DoNotOptimize(engine::Bundle(path));
}
BENCHMARK(open_file)->Unit(benchmark::kMicrosecond);

void checksum(benchmark::State& state) {
  const std::vector<std::byte> bytes(static_cast<size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(ingot_checksum(bytes.data(), bytes.size()));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(checksum)->Arg(1 << 10)->Arg(16 << 20);

// A state of 64 MiB, synced to disk, and read back.
bundle::BundleSpec large_state_spec() {
  bundle::BundleSpec spec = counting_spec();
  spec.states.push_back({{"large", INGOT_F32, {16 << 20}}, "param", spec.state_bytes, bundle::Start::kZero});
  spec.state_bytes += 64 << 20;
  return spec;
}

void save_state(benchmark::State& state) {
  const engine::AlignedBytes bytes = aligned(bundle::write_bundle(large_state_spec()));
  const engine::Bundle bundle(std::span<const std::byte>(bytes.data(), bytes.size()));
  const engine::Session session(bundle);
  const TemporaryFolder directory;
  for (auto _ : state) session.save(directory.file("large.safetensors"));
  state.SetBytesProcessed(state.iterations() * (64 << 20));
}
BENCHMARK(save_state)->Unit(benchmark::kMillisecond)->UseRealTime();

void load_state(benchmark::State& state) {
  const engine::AlignedBytes bytes = aligned(bundle::write_bundle(large_state_spec()));
  const engine::Bundle bundle(std::span<const std::byte>(bytes.data(), bytes.size()));
  engine::Session session(bundle);
  const TemporaryFolder directory;
  session.save(directory.file("large.safetensors"));
  for (auto _ : state) session.load(directory.file("large.safetensors"));
  state.SetBytesProcessed(state.iterations() * (64 << 20));
}
BENCHMARK(load_state)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace ingot

BENCHMARK_MAIN();
