#include <fmt/format.h>

#include "aot/base/lexer.h"
#include "aot/plan/plan.h"

namespace ingot::plan {
namespace {

std::string written(const std::string& name) { return is_bare_name(name) ? name : quoted(name); }

std::string place(const Buffer& buffer) {
  std::string text(name(buffer.space));
  if (is_indexed(buffer.space)) text += fmt::format("[{}]", buffer.index);
  if (is_addressed(buffer.space)) text += fmt::format("+{}", buffer.offset_bytes);
  return text;
}

// "reads x, w writes h": each verb stands for the names behind it.
std::string operands(const Plan& plan, const Step& step) {
  std::string text;
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    const bool goes_on = i > 0 && step.writes[i] == step.writes[i - 1];
    text += goes_on ? ", " : step.writes[i] ? " writes " : " reads ";
    text += written(plan.buffers[step.buffers[i]].name);
  }
  return text;
}

}  // namespace

std::string_view name(Space space) {
  static constexpr std::string_view kNames[kSpaceCount] = {"arena", "state", "rodata", "input", "output"};
  return kNames[static_cast<int>(space)];
}

std::string print(const Plan& plan) {
  const auto time = [&](int step) {
    return step == kBeforeFirstStep                      ? "start"
           : step == static_cast<int>(plan.steps.size()) ? "end"
                                                         : std::to_string(step);
  };
  std::string text = fmt::format("plan {} {{\n  arena {} bytes (lower bound {}), scratch {} bytes a thread\n",
                                 written(plan.entry), plan.arena_bytes, plan.lower_bound_bytes, plan.scratch_bytes);
  for (const Buffer& buffer : plan.buffers) {
    text += fmt::format("  buffer {}: {} {} {} bytes, steps {} to {}", written(buffer.name), to_string(buffer.type),
                        place(buffer), buffer.bytes(), time(buffer.first_step), time(buffer.last_step));
    if (buffer.in_place_of >= 0) text += ", in place of " + written(plan.buffers[buffer.in_place_of].name);
    text += "\n";
  }
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const char* barrier = step.barrier ? " (barrier)" : "";
    if (step.kind == StepKind::kJump) {
      text += fmt::format("  step {}: jump to {}{}\n", i, step.target, barrier);
      continue;
    }
    if (step.kind == StepKind::kJumpUnless) {
      text += fmt::format("  step {}: jump to {} unless {} is {}{}\n", i, step.target,
                          written(plan.buffers[step.buffers[0]].name), step.value, barrier);
      continue;
    }
    const std::string call = step.call < 0 ? "" : fmt::format(", call {}", step.call);
    text += fmt::format("  step {}: {} (kernel {}{}, tasks {}{}){}\n", i, written(step.kernel_name), step.kernel, call,
                        step.task_count, step.barrier ? ", barrier" : "", operands(plan, step));
  }
  return text + "}\n";
}

}  // namespace ingot::plan
