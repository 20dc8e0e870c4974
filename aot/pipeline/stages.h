// What comes after the graph's passes, as text: for --print-after and --dump-dir.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aot/loops/loop.h"
#include "aot/loops/target.h"
#include "aot/lowered/lowered.h"
#include "aot/pipeline/passes.h"
#include "aot/plan/plan.h"

namespace ingot {

// "lower", "loops", "plan", "llvm", "optimized.llvm", "asm": what --print-after may name beside passes.
std::vector<std::string> stage_names();

// The stages of one target. Files lie in the folder DUMP_DIR/TARGET/NUMBER.STAGE, numbered on from the passes: one for
// each kernel, by its index in the plans, or for each entry point.
class StageTexts {
 public:
  StageTexts(const PipelineOptions& options, const loops::Target& target) : options_(options), target_(target) {}

  void show_lowered(const lowered::Function& function) const;
  void show_kernels(std::span<const loops::Kernel> kernels) const;
  void show_plans(std::span<const plan::Plan> plans) const;
  // Compiles each kernel by itself, which gives the code that it has among others.
  void show_code(std::span<const loops::Kernel> kernels) const;

 private:
  bool is_printed(std::string_view stage) const;
  bool is_wanted(std::string_view stage) const { return is_printed(stage) || !options_.dump_dir.empty(); }
  void show(std::string_view stage, const std::string& item, std::string_view text) const;

  const PipelineOptions& options_;
  const loops::Target& target_;
};

}  // namespace ingot
