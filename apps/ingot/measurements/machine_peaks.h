// What this machine can do at most: measured, in the process that asks.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ingot {

struct MemoryLevel {
  std::string name;          // "L1", "L2", "L3", "memory"
  uint64_t bytes = 0;        // that all threads together keep there; of the memory: unlimited
  double gb_per_second = 0;  // of bytes in use, each counted once, of which half are written
  double read_gb_per_second = std::numeric_limits<double>::infinity();   // ... where nothing is written
  double write_gb_per_second = std::numeric_limits<double>::infinity();  // ... and where all are
};

struct MachinePeaks {
  double f32_gflops = 0, f64_gflops = 0;  // of multiply-adds in registers
  std::vector<MemoryLevel> levels;        // nearest first; the last is the memory
  double step_ns = 0;                     // a step that does nothing, with the clock read around it
};

// Runs kernels made for it on so many threads at once, for about a second.
MachinePeaks measure_peaks(uint32_t threads);

// The level with the speeds that it has while each thread uses so many bytes: tries for about so many seconds, the best
// one counts.
MemoryLevel measure_level(const MemoryLevel& level, uint64_t in_use_bytes, uint32_t threads, double seconds);

}  // namespace ingot
