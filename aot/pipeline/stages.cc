#include "aot/pipeline/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "aot/base/file.h"
#include "aot/codegen/compile.h"

namespace ingot {
namespace {

struct Stage {
  std::string_view name;
  std::string_view extension;  // of its files
  bool is_code = false;        // what codegen makes on the way from loops to machine code
};

constexpr Stage kStages[] = {
    {"lower", "lowered"},           {"loops", "loops"}, {"plan", "plan"}, {"llvm", "ll", true},
    {"optimized.llvm", "ll", true}, {"asm", "s", true},
};

// As a part of a path.
std::string file_name(std::string name) {
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c) && c != '_' && c != '-' && c != '.'; }, '_');
  return name;
}

std::string kernel_item(size_t index, const loops::Kernel& kernel) {
  return fmt::format("{:03}.{}", index, kernel.name);
}

}  // namespace

std::vector<std::string> stage_names() {
  std::vector<std::string> names;
  for (const Stage& stage : kStages) names.emplace_back(stage.name);
  return names;
}

void StageTexts::show_lowered(const lowered::Function& function) const {
  if (is_wanted("lower")) show("lower", function.name, lowered::print(function));
}

void StageTexts::show_kernels(std::span<const loops::Kernel> kernels) const {
  if (!is_wanted("loops")) return;
  for (size_t k = 0; k < kernels.size(); ++k) show("loops", kernel_item(k, kernels[k]), loops::print(kernels[k]));
}

void StageTexts::show_plans(std::span<const plan::Plan> plans) const {
  if (!is_wanted("plan")) return;
  for (const plan::Plan& plan : plans) show("plan", plan.entry, plan::print(plan));
}

void StageTexts::show_code(std::span<const loops::Kernel> kernels) const {
  if (std::ranges::none_of(kStages, [&](const Stage& stage) { return stage.is_code && is_wanted(stage.name); })) return;
  for (size_t k = 0; k < kernels.size(); ++k) {
    codegen::CodegenOptions options;
    options.dump = [&](std::string_view stage, std::string_view text) {
      if (is_wanted(stage)) show(stage, kernel_item(k, kernels[k]), text);
    };
    codegen::compile(kernels.subspan(k, 1), target_, options);
  }
}

bool StageTexts::is_printed(std::string_view stage) const {
  return options_.print && std::ranges::any_of(options_.print_after,
                                               [&](const std::string& name) { return name == stage || name == "all"; });
}

void StageTexts::show(std::string_view stage, const std::string& item, std::string_view text) const {
  if (is_printed(stage)) options_.print(fmt::format("// after {} for {}: {}\n{}", stage, target_.name, item, text));
  if (options_.dump_dir.empty()) return;
  const auto* row = std::ranges::find(kStages, stage, &Stage::name);
  INGOT_CHECK(row != std::end(kStages));
  const std::filesystem::path folder = std::filesystem::path(options_.dump_dir) / target_.name /
                                       fmt::format("{:02}.{}", compile_passes().size() + 1 + (row - kStages), stage);
  std::filesystem::create_directories(folder);
  write_file(folder / fmt::format("{}.{}", file_name(item), row->extension), text);
}

}  // namespace ingot
