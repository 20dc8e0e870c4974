#include "tests/support/kernel_agreement.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "aot/base/divide.h"
#include "aot/codegen/compile.h"
#include "aot/loops/interpret.h"
#include "aot/loops/scalar.h"
#include "tests/support/code_runner.h"

namespace ingot::codegen {
namespace {

int64_t bytes_of(const Buffer& buffer) { return buffer.elements * info(buffer.dtype).bytes; }

// Every task of the kernel that is `entry` in an image, on its operands.
void run(CodeRunner& code, const Kernel& kernel, size_t entry, const std::vector<std::byte*>& operands) {
  constexpr int64_t kAlignment = INGOT_BUFFER_ALIGNMENT_BYTES;
  std::vector<int64_t> places;
  int64_t end = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    places.push_back(end);
    end += divide_up(bytes_of(kernel.buffers[i]), kAlignment) * kAlignment;
  }
  const std::span<std::byte> memory = code.memory(end + kernel.scratch_bytes);
  for (size_t i = 0; i < operands.size(); ++i) {
    std::memcpy(memory.data() + places[i], operands[i], bytes_of(kernel.buffers[i]));
  }
  for (int64_t task = 0; task < kernel.task_count; ++task) code.run(entry, places, end, task);
  for (size_t i = 0; i < operands.size(); ++i) {
    std::memcpy(operands[i], memory.data() + places[i], bytes_of(kernel.buffers[i]));
  }
}

void expect_same(const Kernel& kernel, CodeRunner& code, size_t entry, uint64_t seed) {
  std::mt19937_64 random(seed);
  Operands interpreted(kernel);
  Operands compiled(kernel);
  for (size_t i = 0; i < interpreted.starts.size(); ++i) {
    const Buffer& buffer = kernel.buffers[i];
    fill(buffer.dtype, buffer.elements, interpreted.starts[i], random);
    std::memcpy(compiled.starts[i], interpreted.starts[i], bytes_of(buffer));
  }
  interpret_all(kernel, interpreted.starts);
  run(code, kernel, entry, compiled.starts);
  for (size_t i = 0; i < interpreted.starts.size(); ++i) {
    const Buffer& buffer = kernel.buffers[i];
    ASSERT_TRUE(equal(buffer.dtype, buffer.elements, interpreted.starts[i], compiled.starts[i]))
        << buffer.name << " of\n"
        << print(kernel);
  }
}

}  // namespace

void fill(DType dtype, int64_t elements, std::byte* to, std::mt19937_64& random) {
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

::testing::AssertionResult equal(DType dtype, int64_t elements, const std::byte* a, const std::byte* b) {
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

void expect_same(const std::vector<Kernel>& kernels, uint64_t rounds) {
  for (const Target& target : all_targets()) {
    SCOPED_TRACE(target.name);
    const CodeImage image = compile(kernels, target);
    ASSERT_EQ(image.entry_offsets.size(), kernels.size());
    if (!can_run(target)) continue;
    const std::unique_ptr<CodeRunner> code = make_code_runner(target, image);
    for (size_t k = 0; k < kernels.size(); ++k) {
      if (!code->is_faithful(k)) continue;
      for (uint64_t round = 0; round < rounds; ++round) expect_same(kernels[k], *code, k, 1000 * round + k);
    }
  }
}

}  // namespace ingot::codegen
