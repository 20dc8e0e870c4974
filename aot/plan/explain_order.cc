#include "aot/plan/explain_order.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/base/join.h"

namespace ingot::plan {
namespace {

std::string what(const Step& step) {
  switch (step.kind) {
    case StepKind::kKernel:
      return step.kernel_name;
    case StepKind::kJump:
      return fmt::format("jump to {}", step.target);
    case StepKind::kJumpUnless:
      return fmt::format("jump to {} unless a value is {}", step.target, step.value);
  }
  return "";
}

// "makes a (64), b (128)": the arena's buffers for which `is_of_step` holds; nothing where there is none.
template <typename Predicate>
void list(std::vector<std::string>& parts, std::string_view verb, const Plan& plan, Predicate is_of_step) {
  std::vector<std::string> names;
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.space == Space::kArena && is_of_step(buffer)) {
      const bool is_in_place = buffer.in_place_of >= 0 && verb == "makes";
      const std::string place = is_in_place ? " in place of " + plan.buffers[buffer.in_place_of].name : "";
      names.push_back(fmt::format("{} ({}){}", buffer.name, align_up(buffer.bytes()), place));
    }
  }
  if (!names.empty()) parts.push_back(fmt::format("{} {}", verb, join(names, ", ")));
}

}  // namespace

std::vector<int64_t> live_bytes(const Plan& plan) {
  const int steps = static_cast<int>(plan.steps.size());
  std::vector<int64_t> live(plan.steps.size());
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.space != Space::kArena) continue;
    // In the step in which it takes another's place, the other is counted.
    const int first = buffer.in_place_of < 0 ? buffer.first_step : buffer.first_step + 1;
    for (int step = std::max(first, 0); step <= std::min(buffer.last_step, steps - 1); ++step) {
      live[step] += align_up(buffer.bytes());
    }
  }
  return live;
}

std::string explain_order(const Plan& plan) {
  const std::vector<int64_t> live = live_bytes(plan);
  const int64_t peak = live.empty() ? 0 : std::ranges::max(live);
  std::string text = fmt::format("order of {}: {} bytes live at most (at *), arena {} bytes\n  step         live\n",
                                 plan.entry, peak, plan.arena_bytes);
  for (int i = 0; i < std::ssize(plan.steps); ++i) {
    std::vector<std::string> parts;
    list(parts, "makes", plan, [&](const Buffer& buffer) { return buffer.first_step == i; });
    list(parts, "ends", plan, [&](const Buffer& buffer) { return buffer.last_step == i; });
    text += fmt::format("{} {:4} {:12}  {}{}{}\n", live[i] == peak ? "*" : " ", i, live[i], what(plan.steps[i]),
                        parts.empty() ? "" : ": ", join(parts, ", "));
  }
  return text;
}

}  // namespace ingot::plan
