#include "apps/ingot/measurements/machine_peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ingot/engine.hpp>
#include <thread>

#include "aot/codegen/compile.h"
#include "aot/codegen/execute.h"
#include "aot/loops/probe_kernels.h"

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMinTries = 5;           // the best one counts
constexpr double kSeconds = 0.1;       // for all tries of a speed, at least
constexpr double kTrySeconds = 0.002;  // about: short, so that others' work on the machine falls between some of them
constexpr uint64_t kMaxBytes = uint64_t{1} << 28;  // of memory, of all threads together

struct CacheSize {
  std::string name;
  uint64_t bytes;
  bool is_shared;  // by all cores; else each core has its own
};

// The data caches as Linux tells of them, the nearest first; where it does not, what most machines have.
std::vector<CacheSize> cache_sizes() {
  std::vector<CacheSize> caches;
  const std::filesystem::path folder = "/sys/devices/system/cpu/cpu0/cache";
  for (int i = 0;; ++i) {
    const auto read = [&](const char* what) {
      std::string text;
      std::ifstream(folder / fmt::format("index{}", i) / what) >> text;
      return text;
    };
    const std::string level = read("level"), size = read("size");
    if (level.empty()) break;
    if (size.empty() || read("type") == "Instruction") continue;
    const uint64_t unit = size.back() == 'M' ? 1 << 20 : size.back() == 'K' ? 1 << 10 : 1;
    caches.push_back({"L" + level, std::stoull(size) * unit, level >= "3"});
  }
  if (caches.empty()) caches = {{"L1", 32 << 10, false}, {"L2", 512 << 10, false}};
  return caches;
}

// A kernel with a memory of its own in each thread, which all run it at the same time.
class Probe {
 public:
  Probe(const loops::Kernel& kernel, uint32_t threads)
      : executable_(codegen::compile(std::span(&kernel, 1), loops::find_target("host"))), bases_(threads) {
    for (auto& bases : bases_) {
      for (const loops::Buffer& buffer : kernel.buffers) {
        const uint64_t bytes = static_cast<uint64_t>(buffer.elements * info(buffer.dtype).bytes);
        memory_.emplace_back(bytes, INGOT_BUFFER_ALIGNMENT_BYTES);
        std::memset(memory_.back().data(), 0, bytes);
        bases.push_back(reinterpret_cast<uint8_t*>(memory_.back().data()));
      }
    }
    for (uint32_t i = 0; i < kernel.buffers.size(); ++i)
      operands_.push_back({.offset_bytes = 0, .base = i, .reserved = 0});
  }

  // Seconds that all threads take for so many calls each, the best of a few tries.
  double seconds(int64_t calls, double tries_seconds = kSeconds) {
    double best = std::numeric_limits<double>::infinity();
    const auto end = Clock::now() + std::chrono::duration<double>(tries_seconds);
    for (int i = 0; i < kMinTries || Clock::now() < end; ++i) best = std::min(best, try_seconds(calls));
    return best;
  }

  void call(size_t thread) const {
    const ingot_kernel_context context{bases_[thread].data(), operands_.data(), nullptr};
    executable_.entry(0)(&context, 0);
  }

  double try_seconds(int64_t calls) {
    Clock::time_point start;
    std::barrier all_are_ready(static_cast<std::ptrdiff_t>(bases_.size()), [&]() noexcept { start = Clock::now(); });
    std::vector<Clock::time_point> ends(bases_.size());
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < bases_.size(); ++t) {
      threads.emplace_back([&, t] {
        call(t);
        all_are_ready.arrive_and_wait();
        for (int64_t i = 0; i < calls; ++i) call(t);
        ends[t] = Clock::now();
      });
    }
    threads.clear();
    return std::chrono::duration<double>(std::ranges::max(ends) - start).count();
  }

 private:
  codegen::Executable executable_;
  std::vector<engine::AlignedBytes> memory_;
  std::vector<std::vector<uint8_t*>> bases_;  // by thread, by buffer
  std::vector<ingot_operand> operands_;
};

// Calls that take about as long as a try should.
int64_t calls_for(Probe& probe) {
  const double once = probe.try_seconds(1);
  return std::clamp(static_cast<int64_t>(kTrySeconds / once), int64_t{1}, int64_t{10000});
}

double peak_gflops(DType dtype, uint32_t threads) {
  constexpr int64_t kChains = 12, kTrips = 20000;
  const int lanes = loops::find_target("host").lanes(dtype);
  Probe probe(loops::multiply_adds(dtype, lanes, kChains, kTrips), threads);
  const int64_t calls = calls_for(probe);
  return 2.0 * kChains * kTrips * lanes * static_cast<double>(calls * threads) / probe.seconds(calls) * 1e-9;
}

// A kernel that walks through arrays again and again, as loops::add_arrays.
using Stream = loops::Kernel (*)(int lanes, int64_t elements, int64_t repeats);

// Elements a nanosecond, of `arrays` arrays that take so many bytes together.
double elements_per_ns(Stream stream, int64_t arrays, uint64_t bytes, uint32_t threads, double seconds) {
  const int lanes = loops::find_target("host").lanes(DType::kF32);
  const int64_t multiple = 8 * lanes;
  const int64_t elements = std::max<int64_t>(static_cast<int64_t>(bytes) / (4 * arrays * multiple), 1) * multiple;
  const int64_t repeats = std::max<int64_t>((1 << 18) / elements, 1);  // a call is not felt
  Probe probe(stream(lanes, elements, repeats), threads);
  const int64_t calls = calls_for(probe);
  return static_cast<double>(elements * repeats * calls * threads) / probe.seconds(calls, seconds) * 1e-9;
}

double empty_step_ns() {
  Probe probe(loops::add_arrays(1, 4, 1), 1);
  std::vector<double> times;
  for (int i = 0; i < 1001; ++i) {
    const auto start = Clock::now();
    probe.call(0);
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  std::ranges::nth_element(times, times.begin() + 500);
  return times[500];
}

}  // namespace

MachinePeaks measure_peaks(uint32_t threads) {
  MachinePeaks peaks;
  peaks.f32_gflops = peak_gflops(DType::kF32, threads);
  peaks.f64_gflops = peak_gflops(DType::kF64, threads);
  peaks.step_ns = empty_step_ns();
  uint64_t beneath = 0;  // what a thread keeps in the level before
  for (const CacheSize& cache : cache_sizes()) {
    const uint64_t each = cache.is_shared ? cache.bytes / threads : cache.bytes;
    // Well inside: the far end of a large cache is slower.
    const uint64_t in_use = std::min({each / 2, beneath ? 4 * beneath : each, kMaxBytes / threads});
    if (in_use <= beneath) continue;
    peaks.levels.push_back(measure_level({cache.name, each * threads}, in_use, threads, kSeconds));
    beneath = each;
  }
  const uint64_t in_use = std::max<uint64_t>(std::min(4 * beneath, kMaxBytes / threads), 1 << 24);
  const MemoryLevel memory = {"memory", std::numeric_limits<uint64_t>::max()};
  peaks.levels.push_back(measure_level(memory, in_use, threads, kSeconds));
  return peaks;
}

MemoryLevel measure_level(const MemoryLevel& level, uint64_t in_use_bytes, uint32_t threads, double seconds) {
  const auto gb_per_second = [&](Stream stream, int64_t arrays) {
    return 4 * static_cast<double>(arrays) * elements_per_ns(stream, arrays, in_use_bytes, threads, seconds);
  };
  return {level.name, level.bytes, gb_per_second(loops::add_arrays, 2), gb_per_second(loops::read_array, 1),
          gb_per_second(loops::fill_array, 1)};
}

}  // namespace ingot
