// The plan of one entry point: what happens when, and where every byte is. The last of the four forms.
//
//   plan train_step {
//     arena 1280 bytes (lower bound 1280), scratch 4096 bytes a thread
//     buffer x: tensor<32x64xf32> input[0] 8192 bytes, steps start to end
//     buffer w: tensor<64x10xf32> state[2]+640 2560 bytes, steps start to end
//     buffer h: tensor<32x10xf32> arena+0 1280 bytes, steps 0 to 1
//     buffer dlogits: tensor<32x10xf32> arena+0 1280 bytes, steps 1 to 3, in place of h
//     ...
//     step 0: f32_dot_32x10x64 (kernel 0, call 0, tasks 6) reads x, w writes h
//     step 1: f32_rows (kernel 4, call 1, tasks 2, barrier) reads h, y writes lossrow, dlogits
//     step 2: jump to 9 unless p is 1 (barrier)
//     ...
//   }
//
// Operands stand in the order of the kernel's parameters. parse_plan.h reads this text.
// A buffer is one version of one tensor: the old and the new value of a parameter are two buffers at the same place.
#pragma once

#include <string>
#include <vector>

#include "aot/base/divide.h"
#include "aot/graph/literal.h"
#include "aot/graph/type.h"

namespace ingot::plan {

inline constexpr int64_t kAlignmentBytes = 64;
inline int64_t align_up(int64_t bytes) { return round_up(bytes, kAlignmentBytes); }

enum class Space : uint8_t { kArena, kState, kRodata, kInput, kOutput };
inline constexpr int kSpaceCount = 5;
std::string_view name(Space space);
constexpr bool is_addressed(Space space) { return space < Space::kInput; }  // buffers have offsets in it
constexpr bool is_indexed(Space space) { return space != Space::kArena && space != Space::kRodata; }

// Lifetimes count steps; two values stand for outside of them.
inline constexpr int kBeforeFirstStep = -1;

struct Buffer {
  std::string name;
  TensorType type;
  Space space = Space::kArena;
  int index = 0;             // kInput, kOutput: position in the entry's signature. kState: position in the state table
  int64_t offset_bytes = 0;  // within its space; 0 for inputs and outputs, which are memory of their own
  int first_step = kBeforeFirstStep;  // the step that writes it; kBeforeFirstStep for what is there at the start
  int last_step = kBeforeFirstStep;   // the last step that reads it; the number of steps when it must survive the run
  int in_place_of = -1;               // the buffer whose place it takes in the step that writes it

  int64_t bytes() const { return type.bytes(); }
  bool operator==(const Buffer&) const = default;
};

enum class StepKind : uint8_t {
  kKernel,
  kJump,        // goes to `target`
  kJumpUnless,  // goes to `target` unless its only buffer holds `value`
};

// Jumps are structured: `while` is a condition, a kJumpUnless out of the loop, a body and a kJump back; `case` is a
// kJumpUnless to the next branch, a branch and a kJump behind the last branch, and so on, and the last branch. What is
// made outside of a loop and used in it lives until the loop's last step.
struct Step {
  StepKind kind = StepKind::kKernel;
  int target = 0;  // of a jump; the number of steps is the end
  int value = 0;
  int kernel = 0;  // into the kernel table
  std::string kernel_name;
  int call = -1;  // the function's kernel of which this is a step, by its place in program order; -1 is none
  int64_t task_count = 1;
  std::vector<int> buffers;  // one for each of the kernel's parameters, in their order; what a kJumpUnless reads
  std::vector<bool> writes;  // for each of them
  bool barrier = false;      // all earlier steps must have ended before it begins

  bool operator==(const Step&) const = default;
};

struct Plan {
  std::string entry;
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  int64_t arena_bytes = 0;
  int64_t lower_bound_bytes = 0;  // most bytes live at once, whatever the placement
  int64_t scratch_bytes = 0;      // for each thread

  bool operator==(const Plan&) const = default;
};

std::string print(const Plan& plan);

}  // namespace ingot::plan
