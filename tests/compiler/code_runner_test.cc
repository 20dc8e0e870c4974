// Code of every target is run, where a processor or an emulator is there; what cannot be run says so.
#include "tests/support/code_runner.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "aot/codegen/compile.h"
#include "tests/support/emulated_runner.h"
#include "tests/support/error_of.h"
#include "tests/support/sample_kernels.h"

namespace ingot {
namespace {

// A kernel twice, on memory that is given anew: it changes its output and nothing else.
TEST(CodeRunner, RunsKernelsOfEveryTargetThatItCan) {
  constexpr int64_t kElements = 1001, kPlace = 1024;  // floats from one operand to the next
  for (const loops::Target& target : loops::all_targets()) {
    if (!can_run(target)) continue;
    SCOPED_TRACE(target.name);
    const loops::Kernel kernel = loops::scale_kernel(kElements, 8);
    const std::unique_ptr<CodeRunner> code = make_code_runner(target, codegen::compile(std::span(&kernel, 1), target));
    for (const float x : {2.0F, 3.0F}) {
      const std::span<std::byte> memory = code->memory(3 * kPlace * sizeof(float));
      const std::span<float> values(reinterpret_cast<float*>(memory.data()), 3 * kPlace);
      std::ranges::fill(values, x);
      std::vector<float> expected(values.begin(), values.end());
      std::fill_n(expected.begin() + kPlace, kElements, 2 * x);
      const int64_t operands[] = {0, kPlace * sizeof(float)};
      for (int64_t task = 0; task < kernel.task_count; ++task) code->run(0, operands, 2 * kPlace * sizeof(float), task);
      EXPECT_TRUE(std::ranges::equal(values, expected));
    }
  }
}

// A page of zeros, which is no instruction.
TEST(CodeRunner, AnEmulatorThatStopsNamesTheKernel) {
  const loops::Target& target = loops::find_target("aarch64");
  if (const auto why = why_not_emulated(target)) GTEST_SKIP() << *why;
  codegen::CodeImage image;
  image.bytes.resize(image.alignment_bytes);
  image.entry_offsets = {0};
  const std::unique_ptr<CodeRunner> code = make_emulated_runner(target, image);
  code->memory(64);
  EXPECT_NE(error_of([&] { code->run(0, {}, 0, 7); }).find("kernel 0, task 7: the emulated aarch64 processor stopped"),
            std::string::npos);
}

}  // namespace
}  // namespace ingot
