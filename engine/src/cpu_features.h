// What the processor, and the operating system on it, can run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::engine {

// Read once per open: asking a processor is slow inside virtual machines.
class CpuFeatures {
 public:
  CpuFeatures();

  // "x86-64", "aarch64", "riscv64", "armv7e-m", or "" where the engine knows no name for it.
  static const char* isa();

  // True if it has all features of a list like "avx2,fma" (LLVM's names). Names it does not know count as absent.
  // Otherwise *missing and *missing_bytes tell the first that it lacks, inside `list`.
  bool has_all(const char* list, size_t list_bytes, const char** missing, size_t* missing_bytes) const;

 private:
  static constexpr int kWordCount = 8;
  uint32_t words_[kWordCount] = {};
};

}  // namespace ingot::engine
