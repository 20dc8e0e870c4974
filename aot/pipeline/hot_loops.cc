#include "aot/pipeline/hot_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "aot/codegen/compile.h"
#include "aot/codegen/disassemble.h"

namespace ingot {
namespace {

std::string text_of(const codegen::HotLoop& loop) {
  if (loop.multiply_adds == 0) return "";
  std::string text =
      fmt::format("{:.2f} instructions for each of {} multiply-adds, {:.2f} of them to multiply, load and store",
                  loop.instructions_each(), loop.multiply_adds, loop.asked_each());
  if (loop.stack_references > 0) text += fmt::format(", {} references to the stack", loop.stack_references);
  return text;
}

// The hot loop of each kernel, once.
class HotLoops {
 public:
  HotLoops(const std::vector<loops::Kernel>& kernels, const codegen::CodeImage& image, const loops::Target& target)
      : kernels_(kernels), image_(image), target_(target) {}

  const codegen::HotLoop& of(int kernel) {
    const auto [loop, is_new] = loops_.try_emplace(kernel);
    if (is_new) {
      const std::string symbol = codegen::entry_symbol(kernels_, static_cast<size_t>(kernel));
      loop->second = codegen::find_hot_loop(image_, target_, symbol);
    }
    return loop->second;
  }

 private:
  const std::vector<loops::Kernel>& kernels_;
  const codegen::CodeImage& image_;
  const loops::Target& target_;
  std::map<int, codegen::HotLoop> loops_;
};

}  // namespace

void note_hot_loops(std::vector<LoweringNote>& notes, const std::vector<plan::Plan>& plans,
                    const std::vector<loops::Kernel>& kernels, const codegen::CodeImage& image,
                    const loops::Target& target) {
  HotLoops loops(kernels, image, target);
  for (LoweringNote& note : notes) {
    const auto plan = std::ranges::find(plans, note.entry, &plan::Plan::entry);
    if (note.target != target.name || plan == plans.end()) continue;
    codegen::HotLoop hottest;
    for (const plan::Step& step : plan->steps) {
      if (step.kind != plan::StepKind::kKernel || step.call != note.graph_kernel) continue;
      if (loops.of(step.kernel).multiply_adds > hottest.multiply_adds) hottest = loops.of(step.kernel);
    }
    note.machine_code = text_of(hottest);
  }
}

}  // namespace ingot
