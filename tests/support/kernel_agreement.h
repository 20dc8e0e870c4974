// Kernels through both executors of the loops form, and their machine code for every target.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "aot/loops/loop.h"
#include "schema/kernel_abi.h"

namespace ingot::codegen {

using namespace loops;  // NOLINT

// Memory at the alignment that kernels are promised.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t bytes) : storage_(bytes + INGOT_BUFFER_ALIGNMENT_BYTES) {}
  std::byte* data() {
    const auto address = reinterpret_cast<uintptr_t>(storage_.data());
    return storage_.data() + (0 - address) % INGOT_BUFFER_ALIGNMENT_BYTES;
  }

 private:
  std::vector<std::byte> storage_;
};

// The operands of a kernel, filled alike for each executor.
struct Operands {
  explicit Operands(const Kernel& kernel) {
    for (const loops::Buffer& buffer : kernel.buffers) {
      if (buffer.role != BufferRole::kScratch) storage.emplace_back(buffer.elements * info(buffer.dtype).bytes);
    }
    for (AlignedBytes& bytes : storage) starts.push_back(bytes.data());
  }
  std::vector<AlignedBytes> storage;
  std::vector<std::byte*> starts;
};

// Random values among which the special ones are frequent.
void fill(DType dtype, int64_t elements, std::byte* to, std::mt19937_64& random);

// Equal bits, where any NaN equals any other.
::testing::AssertionResult equal(DType dtype, int64_t elements, const std::byte* a, const std::byte* b);

// Compiles the kernels for every target, which proves the images, and compares what they do on random operands, so many
// times, with what the interpreter does, where the code can be run.
void expect_same(const std::vector<Kernel>& kernels, uint64_t rounds = 1);

}  // namespace ingot::codegen
