#include "engine/src/control_flow.h"

namespace ingot::engine {

bool has_jumps(const PlanView& plan) {
  for (uint32_t i = 0; i < plan.step_count; ++i) {
    if (plan.steps[i].kind != INGOT_STEP_KERNEL) return true;
  }
  return false;
}

ControlFlow::ControlFlow(const PlanView& plan, LoopLinks* links, Written* written)
    : plan_(plan), links_(links), written_(written) {
  if (!links) return;
  for (uint32_t i = 0; i < plan.step_count; ++i) links_[i] = {INGOT_NONE, INGOT_NONE};
  for (uint32_t i = 0; i < plan.step_count; ++i) {
    const ingot_step_record& step = plan.steps[i];
    if (step.kind != INGOT_STEP_JUMP || step.target > i) continue;
    links_[i].next = links_[step.target].outermost;
    links_[step.target].outermost = i;
  }
}

const char* ControlFlow::enter(uint32_t step) {
  if (!links_) return nullptr;
  bool needs_barrier = step > 0 && plan_.steps[step - 1].kind != INGOT_STEP_KERNEL;
  while (depth_ > 0 && frames_[depth_ - 1].end == step) {
    close(frames_[--depth_]);
    needs_barrier = true;
  }
  if (step == plan_.step_count) return nullptr;
  if (Frame* frame = innermost(); frame && !frame->is_loop && frame->limit + 1 == step) begin_branch(frame, step);
  for (uint32_t last = links_[step].outermost; last != INGOT_NONE; last = links_[last].next) {
    if (const char* wrong = push({true, false, step, last + 1, last, 0, 0, 0})) return wrong;
    needs_barrier = true;
  }
  needs_barrier |= plan_.steps[step].kind != INGOT_STEP_KERNEL;
  if (needs_barrier && !(plan_.steps[step].flags & INGOT_STEP_BARRIER)) {
    return "a jump stands here, before it or leads here: a barrier is missing";
  }
  return nullptr;
}

// Behind a branch comes the test of the next one, if it is of the same case, or the last.
void ControlFlow::begin_branch(Frame* frame, uint32_t step) {
  const bool is_test = plan_.steps[step].kind == INGOT_STEP_JUMP_UNLESS && links_[step].outermost == INGOT_NONE &&
                       end_of_case(step) == frame->end;
  frame->limit = is_test ? step : frame->end;
}

const char* ControlFlow::jump(uint32_t index) {
  const ingot_step_record& step = plan_.steps[index];
  if (step.kind == INGOT_STEP_JUMP_UNLESS) return jump_unless(index);
  Frame* frame = innermost();
  if (!frame || frame->limit != index) return "a jump ends neither a loop nor a branch";
  if (frame->is_loop) return frame->is_tested ? nullptr : "a loop has no test";
  written_->set_aside(frame->branch_mark, frame->branch++);
  frame->branch_mark = written_->mark();
  return nullptr;
}

const char* ControlFlow::jump_unless(uint32_t index) {
  const uint32_t target = plan_.steps[index].target;
  Frame* frame = innermost();
  if (frame && frame->is_loop && !frame->is_tested && target == frame->end) {
    frame->is_tested = true;
    frame->mark = written_->mark();
    return nullptr;
  }
  if (frame && !frame->is_loop && frame->limit == index) {  // the next test of a case
    frame->limit = target - 1;
    return nullptr;
  }
  const uint32_t end = end_of_case(index);
  if (end == INGOT_NONE) return "a jump makes neither a loop nor a case";
  return push({false, false, index, end, target - 1, 0, written_->mark(), written_->mark()});
}

// Where the case ends that has a test in step `test`; INGOT_NONE if that is no case.
uint32_t ControlFlow::end_of_case(uint32_t test) const {
  const uint32_t target = plan_.steps[test].target;
  if (target <= test + 1 || target > plan_.step_count) return INGOT_NONE;
  const ingot_step_record& last = plan_.steps[target - 1];
  return last.kind == INGOT_STEP_JUMP && last.target >= target ? last.target : INGOT_NONE;
}

const char* ControlFlow::push(const Frame& frame) {
  if (frame.end > limit()) return "a jump leads out of the loop or branch that it stands in";
  static_assert(INGOT_CONTROL_DEPTH_MAX == 16, "the text says so");
  if (depth_ == INGOT_CONTROL_DEPTH_MAX) return "loops and branches are nested more than 16 deep";
  frames_[depth_++] = frame;
  return nullptr;
}

void ControlFlow::close(const Frame& frame) {
  if (frame.is_loop) return written_->forget(frame.mark);
  written_->set_aside(frame.branch_mark, frame.branch);
  written_->merge(frame.mark, frame.branch);
}

bool ControlFlow::lives_through_loops(const ingot_buffer_record& buffer) const {
  for (uint32_t i = 0; i < depth_; ++i) {  // from the outermost, which ends last
    if (frames_[i].is_loop && frames_[i].begin > buffer.first_step) return buffer.last_step + 1 >= frames_[i].end;
  }
  return true;
}

bool ControlFlow::ends_in_loops(const ingot_buffer_record& buffer) const {
  for (uint32_t i = depth_; i-- > 0;) {  // from the innermost, which ends first
    if (frames_[i].is_loop) return buffer.last_step < frames_[i].end;
  }
  return true;
}

}  // namespace ingot::engine
