// The shape of a plan's jumps: loops and branches as schema/plan_records.h draws them, and nothing else.
#pragma once

#include "engine/src/bundle_metadata.h"
#include "engine/src/written.h"

namespace ingot::engine {

// Loops by their steps. Several may begin at one step, each in the condition of the one before.
struct LoopLinks {
  uint32_t outermost;  // of a step: the last step of the outermost loop that begins there
  uint32_t next;       // of a loop's last step: that of the next loop inwards that begins at the same step
};

bool has_jumps(const PlanView& plan);

// Of a jump's operand.
inline uint64_t operand_bytes(const ingot_step_record& step) { return step.flags & INGOT_STEP_WORD ? 4 : 1; }

// Walks the steps in the order in which they stand, proves that jumps are well formed and nested, and tells `written`
// what may not run. Functions that return a text return null, or what is wrong with the step.
class ControlFlow {
 public:
  // links: one for each step, or null if the plan has no jumps.
  ControlFlow(const PlanView& plan, LoopLinks* links, Written* written);

  // Comes to a step, or to the end of the plan.
  const char* enter(uint32_t step);

  // Follows the jump that the step is. Its operand has been read.
  const char* jump(uint32_t step);

  // For a buffer that the current step touches: every loop around the step that began after the buffer keeps it.
  bool lives_through_loops(const ingot_buffer_record& buffer) const;

  // For a buffer that starts in the current step: it ends within every loop around the step.
  bool ends_in_loops(const ingot_buffer_record& buffer) const;

 private:
  // A loop or a case around the current step.
  struct Frame {
    bool is_loop;
    bool is_tested;  // a loop: its test is behind us
    uint32_t begin;
    uint32_t end;          // the first step behind it
    uint32_t limit;        // no part of it reaches beyond: its jump back, the jump at the branch's end, the case's end
    uint32_t branch;       // a case: the current one
    uint32_t mark;         // of `written`: at the loop's test, at the case's begin
    uint32_t branch_mark;  // at the branch's begin
  };

  Frame* innermost() { return depth_ > 0 ? &frames_[depth_ - 1] : nullptr; }
  uint32_t limit() const { return depth_ > 0 ? frames_[depth_ - 1].limit : plan_.step_count; }
  uint32_t end_of_case(uint32_t test) const;
  const char* push(const Frame& frame);
  void close(const Frame& frame);
  void begin_branch(Frame* frame, uint32_t step);
  const char* jump_unless(uint32_t step);

  const PlanView& plan_;
  LoopLinks* links_;
  Written* written_;
  Frame frames_[INGOT_CONTROL_DEPTH_MAX];
  uint32_t depth_ = 0;
};

}  // namespace ingot::engine
