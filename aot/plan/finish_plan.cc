#include "aot/plan/finish_plan.h"

#include <algorithm>
#include <set>

#include "aot/plan/place.h"

namespace ingot::plan {

void share_in_place(Plan& plan, const std::vector<Alias>& aliases) {
  std::set<int> taken_over;
  for (const Alias& alias : aliases) {
    Buffer& to = plan.buffers[alias.output];
    const Buffer& from = plan.buffers[alias.input];
    const bool is_made_later = alias.input < alias.output;  // unlike what several branches write
    if (!is_made_later || to.in_place_of >= 0 || to.space != from.space || to.bytes() != from.bytes() ||
        to.bytes() == 0)
      continue;
    const bool same_state = to.space == Space::kState && to.index == from.index;
    const bool dies_here = to.space == Space::kArena && from.last_step == alias.step && to.first_step == alias.step &&
                           !taken_over.contains(alias.input);
    if (!same_state && !dies_here) continue;
    to.in_place_of = alias.input;
    taken_over.insert(alias.input);
  }
}

void place_arena(Plan& plan) {
  // One item for each chain of buffers that take each other's place.
  std::vector<Item> items;
  std::vector<int> item_of(plan.buffers.size(), -1);
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    if (buffer.space != Space::kArena) continue;
    if (buffer.in_place_of >= 0) {
      item_of[i] = item_of[buffer.in_place_of];
      items[item_of[i]].last = std::max(items[item_of[i]].last, buffer.last_step);
    } else {
      item_of[i] = static_cast<int>(items.size());
      items.push_back({buffer.bytes(), buffer.first_step, buffer.last_step});
    }
  }
  const Placement placement = place(items);
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    if (item_of[i] >= 0) plan.buffers[i].offset_bytes = placement.offsets[item_of[i]];
  }
  plan.arena_bytes = placement.bytes;
  plan.lower_bound_bytes = lower_bound_bytes(items);
}

namespace {

bool conflict(const Plan& plan, const Step& a, const Step& b) {
  for (size_t i = 0; i < a.buffers.size(); ++i) {
    for (size_t j = 0; j < b.buffers.size(); ++j) {
      if (!a.writes[i] && !b.writes[j]) continue;
      const Buffer& x = plan.buffers[a.buffers[i]];
      const Buffer& y = plan.buffers[b.buffers[j]];
      if (x.space != y.space || (!is_addressed(x.space) && x.index != y.index)) continue;
      if (x.offset_bytes < y.offset_bytes + y.bytes() && y.offset_bytes < x.offset_bytes + x.bytes()) return true;
    }
  }
  return false;
}

}  // namespace

void set_barriers(Plan& plan) {
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (plan.steps[i].kind == StepKind::kKernel) continue;
    plan.steps[i].barrier = true;
    for (const size_t next : {i + 1, static_cast<size_t>(plan.steps[i].target)}) {
      if (next < plan.steps.size()) plan.steps[next].barrier = true;
    }
  }
  size_t since = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    for (size_t earlier = since; earlier < i && !plan.steps[i].barrier; ++earlier) {
      plan.steps[i].barrier = conflict(plan, plan.steps[earlier], plan.steps[i]);
    }
    if (plan.steps[i].barrier) since = i;
  }
}

}  // namespace ingot::plan
