// The innermost loops of contractions as machine code of every target, whatever this machine's processor: that they
// multiply and do little else.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "aot/codegen/compile.h"
#include "aot/codegen/disassemble.h"
#include "aot/ops/ops.h"
#include "aot/pipeline/passes.h"
#include "tests/support/code_runner.h"
#include "tests/support/contraction_suite.h"
#include "tests/support/documented_table.h"
#include "tests/support/schedule_fixture.h"

namespace ingot {
namespace {

constexpr double kManyFlops = 2e7;  // what smaller problems lose is little

constexpr double kMostStackReferences = 0.25;  // for each multiply-add

constexpr double kMostInstructions = 1.1;  // for each that the kernel asks for

// Products of one type of elements.
struct Products {
  const char* target;
  DType dtype = DType::kF32;
};

constexpr Products kProducts[] = {{"x86-64-v3"},
                                  {"x86-64-v4"},
                                  {"x86-64-v4-bf16", DType::kBF16},
                                  {"aarch64"},
                                  {"aarch64-bf16", DType::kBF16},
                                  {"riscv64"},
                                  {"riscv64-v"},
                                  {"cortex-m7"}};

// Of the kernel's steps, the loop with the most multiply-adds.
codegen::HotLoop hot_loop(const Lowering& lowering, const loops::Target& target) {
  std::vector<loops::Kernel> kernels;
  for (const LoweredKernel& step : lowering.steps) kernels.push_back(step.kernel);
  const codegen::CodeImage image = codegen::compile(kernels, target);
  codegen::HotLoop hottest;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const codegen::HotLoop loop = codegen::find_hot_loop(image, target, codegen::entry_symbol(kernels, k));
    if (loop.multiply_adds > hottest.multiply_adds) hottest = loop;
  }
  return hottest;
}

class HotLoop : public testing::TestWithParam<Products> {};

TEST_P(HotLoop, Multiplies) {
  const loops::Target& target = loops::find_target(GetParam().target);
  int tried = 0, loops = 0, with_spills = 0;
  double most = 0;
  int64_t large = 0;
  for (ContractionProblem& problem : contraction_problems(GetParam().dtype)) {
    if (problem.flops < kManyFlops || !takes_turn(target, large++)) continue;
    ++tried;
    PassContext context;
    context.target = &target;
    context.math = Math::kExact;  // convolutions stay
    run_passes(compile_passes(), *problem.module, context);
    for (const auto& kernel : problem.module->functions[0]->body.ops) {
      if (!kernel->is(kKernel)) continue;
      const Lowering lowering = lower(*kernel, target);
      if (lowering.choices.empty()) continue;
      const codegen::HotLoop loop = hot_loop(lowering, target);
      const std::string what =
          fmt::format("{} {}: {:.2f} instructions a multiply-add, {:.2f} asked for, {} on the stack", target.name,
                      problem.name, loop.instructions_each(), loop.asked_each(), loop.stack_references);
      EXPECT_LE(loop.instructions, kMostInstructions * loop.asked()) << what << "\n" << loop.text;
      EXPECT_LE(loop.stack_references, kMostStackReferences * loop.multiply_adds) << what << "\n" << loop.text;
      ++loops;
      most = std::max(most, loop.instructions_each() / loop.asked_each());
      if (loop.stack_references > 0) ++with_spills;
    }
  }
  EXPECT_GE(loops, tried);
  EXPECT_GT(tried, 20);
  EXPECT_LE(with_spills, loops / 10) << target.name;
  if (std::getenv("INGOT_EVERY_TARGET")) {
    const std::string row = std::string(target.name) + (GetParam().dtype == DType::kBF16 ? " products of bf16" : "");
    const DocumentedTable table("devices.md", "## Instructions for each");
    table.expect(row, 0, 100 * (most - 1), 0.1);
  }
  fmt::print("  {}: {} loops, with {:.3f} instructions at most for each that is asked for\n", target.name, loops, most);
}

INSTANTIATE_TEST_SUITE_P(Targets, HotLoop, testing::ValuesIn(kProducts), [](const auto& info) {
  std::string name = info.param.target;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace ingot
