#include "engine/src/verify_plan.h"

#include <cstring>

#include "engine/src/control_flow.h"
#include "engine/src/live_buffers.h"
#include "engine/src/memory_cursor.h"
#include "engine/src/written.h"

namespace ingot::engine {
namespace {

// The bytes of a place that steps of the current group have touched in one way.
struct Touched {
  Extent bytes;
  uint32_t step;  // the last of them; before the group's first step: there are none
  bool by_several;

  bool in_group(uint32_t group_begin) const { return bytes.end != 0 && step >= group_begin; }

  // True if a step of this group touched some of `extent`.
  bool touches(const Extent& extent, uint32_t group_begin) const {
    return in_group(group_begin) && overlap(bytes, extent);
  }

  void add(const Extent& extent, uint32_t by, uint32_t group_begin) {
    if (!in_group(group_begin)) {
      *this = {extent, by, false};
    } else {
      *this = {hull(bytes, extent), by, by_several || step != by};
    }
  }
};

// A buffer, a state or an output, in this order. Extents count from its first byte.
struct Place {
  Touched reads;
  Touched writes;
  uint32_t writer;  // 1 + the index of the parameter that may be written where what is read starts; 0: none
};

// What verification works with.
struct Workspace {
  Workspace(const PlanView& plan, uint32_t state_count, uint32_t output_count, void* block) {
    MemoryCursor cursor(block);
    const uint64_t place_count = uint64_t{plan.buffer_count} + state_count + output_count;
    const bool jumps = has_jumps(plan);
    places = cursor.take<Place>(place_count);
    written = cursor.take<WrittenPlace>(place_count);
    zeroed_bytes = cursor.used_bytes();
    live = cursor.take<LiveExtent>(plan.buffer_count);
    if (jumps) changes = cursor.take<WrittenChange>(plan.operand_count);
    if (jumps) loops = cursor.take<LoopLinks>(plan.step_count);
    bytes = cursor.used_bytes();
  }

  Place* places;
  WrittenPlace* written;
  LiveExtent* live;
  WrittenChange* changes = nullptr;
  LoopLinks* loops = nullptr;
  uint64_t zeroed_bytes;
  uint64_t bytes;
};

constexpr uint32_t kAnyWriter = UINT32_MAX;

class PlanVerifier {
 public:
  PlanVerifier(const PlanView& plan, const PlanSurroundings& around, const Workspace& workspace, ingot_error* error)
      : plan_(plan),
        around_(around),
        error_(error),
        places_(workspace.places),
        live_(plan, workspace.live),
        written_(workspace.written, workspace.changes),
        flow_(plan, workspace.loops, &written_) {
    std::memset(static_cast<void*>(places_), 0, workspace.zeroed_bytes);
  }

  ingot_status run() {
    if (plan_.lower_bound_bytes > plan_.arena_bytes) return refuse(0, "the lower bound is above the arena's size");
    for (uint32_t step = 0; step < plan_.step_count; ++step) INGOT_TRY(visit(step));
    flow_.enter(plan_.step_count);
    if (next_buffer_ != plan_.buffer_count) return refuse(plan_.step_count, "a buffer starts after the last step");
    if (next_operand_ != plan_.operand_count) return refuse(plan_.step_count, "operands are left over");
    for (uint32_t i = 0; i < around_.output_count; ++i) {
      const uint64_t bytes = around_.port_bytes[around_.input_count + i];
      if (!written_.covers(output_place(i), {0, bytes})) {
        return refuse(plan_.step_count, "an output is not written whole");
      }
    }
    return INGOT_OK;
  }

 private:
  // Where an operand lies: its bytes, counted from the place's first. No place: nothing that is ever written.
  struct Target {
    uint32_t place = INGOT_NONE;
    Extent bytes;
    bool may_write = true;
    bool has_value = false;  // before the run begins
  };

  uint32_t state_place(uint32_t state) const { return plan_.buffer_count + state; }
  uint32_t output_place(uint32_t output) const { return plan_.buffer_count + around_.state_count + output; }

  [[gnu::noinline]] ingot_status refuse(uint32_t step, const char* what) {
    return fail(error_, INGOT_BAD_PLAN, "step %u: %s", step, what);
  }

  ingot_status visit(uint32_t index) {
    const ingot_step_record& step = plan_.steps[index];
    if (const char* wrong = flow_.enter(index)) return refuse(index, wrong);
    if (step.flags & INGOT_STEP_BARRIER) group_begin_ = index;
    for (; next_buffer_ < plan_.buffer_count && plan_.buffers[next_buffer_].first_step == index; ++next_buffer_) {
      INGOT_TRY(start(next_buffer_));
    }

    return step.kind == INGOT_STEP_KERNEL ? visit_kernel(index, step) : visit_jump(index, step);
  }

  ingot_status take_operands(uint32_t index, const ingot_step_record& step, uint32_t count) {
    if (step.first_operand != next_operand_ || count > plan_.operand_count - next_operand_) {
      return refuse(index, "it has not the operands of its kernel");
    }
    next_operand_ += count;
    return INGOT_OK;
  }

  ingot_status visit_kernel(uint32_t index, const ingot_step_record& step) {
    if ((step.flags & ~INGOT_STEP_BARRIER) != 0 || step.target != 0) return refuse(index, "unknown kind or flag");
    if (step.kernel >= around_.code->kernel_count) return refuse(index, "there is no such kernel");
    const ingot_kernel_record& kernel = around_.code->kernels[step.kernel];
    const ingot_parameter_record* parameters = around_.code->parameters + kernel.first_parameter;
    INGOT_TRY(take_operands(index, step, kernel.parameter_count));
    const uint32_t first = step.first_operand, count = kernel.parameter_count;
    for (uint32_t i = 0; i < count; ++i) INGOT_TRY(read(index, first + i, parameters[i], writer(parameters[i], i)));
    for (uint32_t i = 0; i < count; ++i) INGOT_TRY(write(index, first + i, parameters[i], i + 1));
    return INGOT_OK;
  }

  // 1 + the index of the one that may be written where a parameter starts.
  uint32_t writer(const ingot_parameter_record& parameter, uint32_t index) const {
    if (!around_.code->tells_places) return kAnyWriter;
    return parameter.access & INGOT_ACCESS_WRITE ? index + 1 : parameter.replaced_by;
  }

  ingot_status visit_jump(uint32_t index, const ingot_step_record& step) {
    const bool has_test = step.kind == INGOT_STEP_JUMP_UNLESS;
    uint32_t known_flags = INGOT_STEP_BARRIER;
    if (has_test) known_flags |= INGOT_STEP_WORD;
    if (step.kind > INGOT_STEP_JUMP_UNLESS || (step.flags & ~known_flags) != 0 || (!has_test && step.kernel != 0)) {
      return refuse(index, "unknown kind or flag");
    }
    INGOT_TRY(take_operands(index, step, has_test ? 1 : 0));
    if (has_test) {
      if (plan_.operands[step.first_operand].base >= INGOT_BASE_IO + around_.input_count) {
        return refuse(index, "a jump reads an output");
      }
      INGOT_TRY(read(index, step.first_operand, {operand_bytes(step), INGOT_ACCESS_READ, 0}, 0));
    }
    const char* wrong = flow_.jump(index);
    return wrong ? refuse(index, wrong) : INGOT_OK;
  }

  // A buffer comes alive: it must lie in the arena and overlap no other.
  ingot_status start(uint32_t index) {
    const ingot_buffer_record& buffer = plan_.buffers[index];
    if (buffer.last_step < buffer.first_step || buffer.last_step >= plan_.step_count || buffer.reserved != 0 ||
        buffer.offset_bytes % INGOT_BUFFER_ALIGNMENT_BYTES != 0 || buffer.offset_bytes > plan_.arena_bytes ||
        buffer.bytes > plan_.arena_bytes - buffer.offset_bytes) {
      return refuse(buffer.first_step, "a buffer's lifetime or place is impossible");
    }
    if (!flow_.ends_in_loops(buffer)) {
      return refuse(buffer.first_step, "a buffer from inside a loop lives on behind it");
    }
    if (buffer.in_place_of != INGOT_NONE) INGOT_TRY(check_in_place(index, buffer));
    return live_.add(index, group_begin_) ? INGOT_OK : refuse(buffer.first_step, "two live buffers overlap");
  }

  ingot_status check_in_place(uint32_t index, const ingot_buffer_record& buffer) {
    if (buffer.in_place_of >= index) return refuse(buffer.first_step, "a buffer stands in place of a later one");
    const ingot_buffer_record& before = plan_.buffers[buffer.in_place_of];
    const Place& place = places_[buffer.in_place_of];
    if (before.last_step != buffer.first_step || before.offset_bytes != buffer.offset_bytes) {
      return refuse(buffer.first_step, "a buffer stands in place of one that does not end there");
    }
    if (place.reads.in_group(group_begin_) || place.writes.in_group(group_begin_)) {
      return refuse(buffer.first_step, "a buffer stands in place of one that steps beside it touch");
    }
    return INGOT_OK;
  }

  ingot_status locate(uint32_t step, uint32_t operand_index, uint64_t reach_bytes, Target* out) {
    const ingot_operand& operand = plan_.operands[operand_index];
    const uint32_t index = plan_.operand_buffers[operand_index];
    if (operand.reserved != 0 || operand.offset_bytes % INGOT_BUFFER_ALIGNMENT_BYTES != 0) {
      return refuse(step, "an operand is not aligned");
    }
    Extent home;  // that the operand must lie in, in bytes of its base
    Target target;
    if (operand.base == INGOT_BASE_ARENA) {
      if (index >= plan_.buffer_count) return refuse(step, "an operand names no buffer");
      const ingot_buffer_record& buffer = plan_.buffers[index];
      if (step < buffer.first_step || step > buffer.last_step) return refuse(step, "a buffer is used outside its life");
      if (!flow_.lives_through_loops(buffer)) {
        return refuse(step, "a loop uses a buffer from before it that does not live to its last step");
      }
      home = {buffer.offset_bytes, buffer.offset_bytes + buffer.bytes};
      target.place = index;
    } else if (operand.base == INGOT_BASE_STATE) {
      if (index >= around_.state_count) return refuse(step, "an operand names no state");
      home = around_.states[index];
      target.place = state_place(index);
      target.has_value = true;
    } else if (operand.base == INGOT_BASE_RODATA) {
      home = {0, around_.rodata_bytes};
      target.may_write = false;
    } else {
      const uint32_t port = operand.base - INGOT_BASE_IO;
      if (port >= around_.input_count + around_.output_count) return refuse(step, "an operand names no base");
      home = {0, around_.port_bytes[port]};
      target.may_write = port >= around_.input_count;
      if (target.may_write) target.place = output_place(port - around_.input_count);
    }
    if (operand.offset_bytes < home.begin || operand.offset_bytes > home.end ||
        reach_bytes > home.end - operand.offset_bytes) {
      return refuse(step, "an operand reaches outside its place");
    }
    target.bytes.begin = operand.offset_bytes - home.begin;
    target.bytes.end = target.bytes.begin + reach_bytes;
    *out = target;
    return INGOT_OK;
  }

  ingot_status read(uint32_t step, uint32_t operand, const ingot_parameter_record& parameter, uint32_t writer) {
    Target target;
    INGOT_TRY(locate(step, operand, parameter.reach_bytes, &target));
    if (!(parameter.access & INGOT_ACCESS_READ) || target.place == INGOT_NONE || parameter.reach_bytes == 0) {
      return INGOT_OK;
    }
    Place& place = places_[target.place];
    if (!target.has_value && !written_.covers(target.place, target.bytes)) {
      return refuse(step, "it reads what no step has written");
    }
    if (place.writes.touches(target.bytes, group_begin_)) {
      return refuse(step, "it reads what a step beside it writes: a barrier is missing");
    }
    const bool is_first = !place.reads.in_group(group_begin_);
    const bool is_like_others = place.writer == writer && place.reads.bytes.begin == target.bytes.begin;
    place.writer = is_first || is_like_others ? writer : 0;
    place.reads.add(target.bytes, step, group_begin_);
    return INGOT_OK;
  }

  // `writer` is 1 + the parameter's index.
  ingot_status write(uint32_t step, uint32_t operand, const ingot_parameter_record& parameter, uint32_t writer) {
    if (!(parameter.access & INGOT_ACCESS_WRITE) || parameter.reach_bytes == 0) return INGOT_OK;
    Target target;
    INGOT_TRY(locate(step, operand, parameter.reach_bytes, &target));
    if (!target.may_write) return refuse(step, "it writes what is read only");
    for (uint32_t place = target.place; place != INGOT_NONE; place = replaced_by(place, step)) {
      if (!may_write(places_[place], target.bytes, step, writer)) {
        return refuse(step, "it writes what a step beside it, or another of its own operands, touches");
      }
      places_[place].writes.add(target.bytes, step, group_begin_);
    }
    written_.add(target.place, target.bytes);
    return INGOT_OK;
  }

  // What the steps of a group write lies apart from all that they touch, except where it replaces a step's own operand.
  bool may_write(const Place& place, const Extent& bytes, uint32_t step, uint32_t writer) const {
    if (place.writes.touches(bytes, group_begin_)) return false;
    if (!place.reads.touches(bytes, group_begin_)) return true;
    return place.reads.step == step && !place.reads.by_several && place.reads.bytes.begin == bytes.begin &&
           (place.writer == writer || place.writer == kAnyWriter);
  }

  // The buffer in whose place a buffer starts in this step.
  uint32_t replaced_by(uint32_t place, uint32_t step) const {
    const bool starts = place < plan_.buffer_count && plan_.buffers[place].first_step == step;
    return starts ? plan_.buffers[place].in_place_of : INGOT_NONE;
  }

  const PlanView& plan_;
  const PlanSurroundings& around_;
  ingot_error* error_;
  Place* places_;
  LiveBuffers live_;
  Written written_;
  ControlFlow flow_;
  uint32_t next_buffer_ = 0;
  uint32_t next_operand_ = 0;
  uint32_t group_begin_ = 0;
};

}  // namespace

uint64_t verify_workspace_bytes(const PlanView& plan, uint32_t state_count, uint32_t output_count) {
  return Workspace(plan, state_count, output_count, nullptr).bytes;
}

ingot_status verify_plan(const PlanView& plan, const PlanSurroundings& surroundings, void* workspace,
                         ingot_error* error) {
  const Workspace work(plan, surroundings.state_count, surroundings.output_count, workspace);
  return PlanVerifier(plan, surroundings, work, error).run();
}

}  // namespace ingot::engine
