// The innermost loops of contractions as machine code of every target, whatever this machine's processor: that they
// multiply and do little else.
#include <gtest/gtest.h>

#include <vector>

#include "aot/codegen/compile.h"
#include "aot/codegen/disassemble.h"
#include "aot/ops/ops.h"
#include "aot/pipeline/passes.h"
#include "tests/support/contraction_suite.h"
#include "tests/support/schedule_fixture.h"

namespace ingot {
namespace {

constexpr double kManyFlops = 2e7;  // what smaller problems lose is little

// At most, for each multiply-add. Tiles of channels that are convolved apart are short, and some of the weights of their
// windows are operands in memory.
struct Most {
  double instructions, stack_references;
};
constexpr Most kMost = {2, 0.25}, kMostOfWindows = {2.5, 0.5};

// A loop is lean whose instructions are at most a tenth more than its multiply-adds and the loads of what they multiply.
constexpr double kLean = 1.1;

// Of each row the share of loops that are not lean, at most: those of channels that are convolved apart, which spill, and
// those that compute many addresses for the few multiply-adds of a small tile.
struct HotLoopRow {
  const char* target;
  double most_fat;
};
constexpr HotLoopRow kHotLoopRows[] = {{"x86-64-v3", 0.05}, {"x86-64-v4", 0.1}, {"aarch64", 0.15}};

Most most_of(const ContractionProblem& problem) {
  return problem.name.starts_with("conv_mobilenet") ? kMostOfWindows : kMost;
}

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

class HotLoop : public testing::TestWithParam<HotLoopRow> {};

TEST_P(HotLoop, Multiplies) {
  const loops::Target& target = loops::find_target(GetParam().target);
  int loops = 0, with_spills = 0, fat = 0;
  for (ContractionProblem& problem : contraction_problems()) {
    if (problem.flops < kManyFlops) continue;
    const Most most = most_of(problem);
    PassContext context;
    context.target = &target;
    run_passes(compile_passes(), *problem.module, context);
    for (const auto& kernel : problem.module->functions[0]->body.ops) {
      if (!kernel->is(kKernel)) continue;
      const Lowering lowering = lower(*kernel, target);
      if (lowering.choices.empty()) continue;
      const codegen::HotLoop loop = hot_loop(lowering, target);
      EXPECT_LE(loop.instructions, most.instructions * loop.multiply_adds) << problem.name << " " << target.name << "\n"
                                                                           << loop.text;
      EXPECT_LE(loop.stack_references, most.stack_references * loop.multiply_adds)
          << problem.name << " " << target.name << "\n"
          << loop.text;
      ++loops;
      if (loop.instructions > kLean * (loop.multiply_adds + loop.loads)) {
        ++fat;
        fmt::print("  {} {}: {:.2f} instructions a multiply-add, {:.2f} to multiply and to load, {} on the stack\n",
                   target.name, problem.name, loop.instructions_each(), loop.ideal_each(), loop.stack_references);
      }
      if (loop.stack_references > 0) ++with_spills;
    }
  }
  EXPECT_GT(loops, 60);
  EXPECT_LE(with_spills, loops / 10) << target.name;
  EXPECT_LE(fat, GetParam().most_fat * loops) << target.name;
  fmt::print("  {}: {} of {} loops are lean\n", target.name, loops - fat, loops);
}

INSTANTIATE_TEST_SUITE_P(Targets, HotLoop, testing::ValuesIn(kHotLoopRows));

}  // namespace
}  // namespace ingot
