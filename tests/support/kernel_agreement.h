// Kernels through both executors of the loops form, and their machine code for every target.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <iterator>
#include <random>
#include <vector>

#include "aot/codegen/compile.h"
#include "aot/codegen/execute.h"
#include "aot/loops/interpret.h"
#include "aot/loops/scalar.h"

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
    for (const Buffer& buffer : kernel.buffers) {
      if (buffer.role != BufferRole::kScratch) storage.emplace_back(buffer.elements * info(buffer.dtype).bytes);
    }
    for (AlignedBytes& bytes : storage) starts.push_back(bytes.data());
  }
  std::vector<AlignedBytes> storage;
  std::vector<std::byte*> starts;
};

// Random values among which the special ones are frequent.
inline void fill(DType dtype, int64_t elements, std::byte* to, std::mt19937_64& random) {
  const DType held = register_dtype(dtype);
  constexpr double kFloats[] = {0.0,    -0.0,   1.0,     -1.0,     0.5,       1.5,    2.5,    -2.5,    127.5,
                                128.0,  -128.7, 255.9,   65504.0,  1e5,       -1e5,   1e-40,  -1e-40,  3e-45,
                                1e38,   -3e38,  2.147e9, -2.15e9,  9.3e18,    1.9e19, 1e-310, 1.7e308, 6.1e-5,
                                5.9e-8, 3.0,    7.0,     INFINITY, -INFINITY, NAN};
  for (int64_t k = 0; k < elements; ++k) {
    Bits bits = random();
    if (is_float(held)) {
      const uint64_t choice = random() % 4;
      if (choice < 2) bits = bits_of_float(held, kFloats[random() % std::size(kFloats)]);
      if (choice == 2) bits = bits_of_float(held, std::uniform_real_distribution<double>(-100, 100)(random));
      if (choice == 3 && held == DType::kF32) bits &= 0xFFFFFFFF;
    } else if (random() % 3 == 0) {
      bits = bits_of_int(held, static_cast<int64_t>(random() % 5) - 2);
    } else {
      bits = bits_of_int(held, static_cast<int64_t>(bits) >> (random() % 64));
    }
    store_scalar(dtype, bits, to + k * info(dtype).bytes);
  }
}

// Equal bits, where any NaN equals any other.
inline ::testing::AssertionResult equal(DType dtype, int64_t elements, const std::byte* a, const std::byte* b) {
  for (int64_t k = 0; k < elements; ++k) {
    const Bits x = load_scalar(dtype, a + k * info(dtype).bytes);
    const Bits y = load_scalar(dtype, b + k * info(dtype).bytes);
    const DType held = register_dtype(dtype);
    if (x == y) continue;
    if (is_float(held) && std::isnan(float_of_bits(held, x)) && std::isnan(float_of_bits(held, y))) continue;
    return ::testing::AssertionFailure() << "element " << k << ": interpreted 0x" << std::hex << x << ", compiled 0x"
                                         << y;
  }
  return ::testing::AssertionSuccess();
}

// Runs a kernel both ways on the same operands and compares every output.
inline void expect_same(const Kernel& kernel, const Executable& executable, size_t entry, uint64_t seed) {
  std::mt19937_64 random(seed);
  Operands interpreted(kernel);
  Operands compiled(kernel);
  for (size_t i = 0; i < interpreted.starts.size(); ++i) {
    const Buffer& buffer = kernel.buffers[i];
    fill(buffer.dtype, buffer.elements, interpreted.starts[i], random);
    std::memcpy(compiled.starts[i], interpreted.starts[i], buffer.elements * info(buffer.dtype).bytes);
  }
  AlignedBytes scratch(kernel.scratch_bytes);
  for (int64_t task = 0; task < kernel.task_count; ++task) {
    interpret(kernel, interpreted.starts, task);
    executable.run(entry, compiled.starts, task, scratch.data());
  }
  for (size_t i = 0; i < interpreted.starts.size(); ++i) {
    const Buffer& buffer = kernel.buffers[i];
    ASSERT_TRUE(equal(buffer.dtype, buffer.elements, interpreted.starts[i], compiled.starts[i]))
        << buffer.name << " of\n"
        << print(kernel);
  }
}

// Compiles the kernels for every target, which proves the images, and runs what this machine can run.
inline void expect_same(const std::vector<Kernel>& kernels, uint64_t rounds = 1) {
  for (const Target& target : all_targets()) {
    const CodeImage image = compile(kernels, target);
    ASSERT_EQ(image.entry_offsets.size(), kernels.size());
    if (!runs_here(target)) continue;
    SCOPED_TRACE(target.name);
    const Executable executable(image);
    for (size_t k = 0; k < kernels.size(); ++k) {
      for (uint64_t round = 0; round < rounds; ++round) expect_same(kernels[k], executable, k, 1000 * round + k);
    }
  }
}

}  // namespace ingot::codegen
