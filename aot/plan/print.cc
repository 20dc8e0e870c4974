#include <fmt/format.h>

#include "aot/plan/plan.h"

namespace ingot::plan {
namespace {

std::string place(const Buffer& buffer) {
  const bool addressed =
      buffer.space == Space::kArena || buffer.space == Space::kState || buffer.space == Space::kRodata;
  return addressed ? fmt::format("{}+{}", name(buffer.space), buffer.offset_bytes)
                   : fmt::format("{} {}", name(buffer.space), buffer.index);
}

std::string names(const Plan& plan, const Step& step, bool writes) {
  std::string text;
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    if (step.writes[i] != writes) continue;
    text += (text.empty() ? "" : ", ") + plan.buffers[step.buffers[i]].name;
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace

std::string_view name(Space space) {
  static constexpr std::string_view kNames[] = {"arena", "state", "rodata", "input", "output"};
  return kNames[static_cast<int>(space)];
}

std::string print(const Plan& plan) {
  std::string text = fmt::format("plan {} {{\n  arena {} bytes (lower bound {}), scratch {} bytes a thread\n",
                                 plan.entry, plan.arena_bytes, plan.lower_bound_bytes, plan.scratch_bytes);
  for (const Buffer& buffer : plan.buffers) {
    text += fmt::format("  buffer {}: {} {} {} bytes, steps {}..{}", buffer.name, to_string(buffer.type), place(buffer),
                        buffer.bytes(), buffer.first_step, buffer.last_step);
    if (buffer.in_place_of >= 0) text += ", in place of " + plan.buffers[buffer.in_place_of].name;
    text += "\n";
  }
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    text += fmt::format("  step {}: {} reads {} writes {}, tasks {}{}\n", i, step.kernel_name, names(plan, step, false),
                        names(plan, step, true), step.task_count, step.barrier ? ", barrier" : "");
  }
  return text + "}\n";
}

}  // namespace ingot::plan
