// The proof, at load, that a plan stays where it may: a wrong or hostile plan is refused, not run.
#pragma once

#include <cstdint>

#include "engine/src/bundle_metadata.h"
#include "engine/src/code_segment.h"
#include "engine/src/error.h"
#include "engine/src/extent.h"

namespace ingot::engine {

// What a plan's operands may refer to.
struct PlanSurroundings {
  const CodeView* code = nullptr;
  const Extent* states = nullptr;  // in the state region, ascending
  uint32_t state_count = 0;
  const uint64_t* port_bytes = nullptr;  // inputs, then outputs
  uint32_t input_count = 0;
  uint32_t output_count = 0;
  uint64_t rodata_bytes = 0;
};

uint64_t verify_workspace_bytes(const PlanView& plan, uint32_t state_count, uint32_t output_count);

// Proves, in one pass over the steps, O(n log n) but for moves within the sorted list of live buffers:
//   - every step names a kernel and has its operands; every operand, for as far as its kernel reaches, lies inside its
//     buffer, state, input, output or the read-only data, at a multiple of 64, and inputs and read-only data
//     are not written;
//   - every buffer lies in the arena, is used only during its lifetime, and overlaps no other that is alive in the same
//     group of steps, except the one it starts in place of;
//   - jumps make loops and branches that are properly nested (control_flow.h); a buffer from before a loop that
//     the loop touches lives through it, one from inside ends inside;
//   - on every path, nothing is read before it is written, and every output is written;
//   - steps that no barrier separates do not touch what one of them writes;
//   - what a step writes overlaps none of its other operands, but for one that it replaces.
// Fails with INGOT_BAD_PLAN and a text that names the step. `workspace` as told by verify_workspace_bytes.
ingot_status verify_plan(const PlanView& plan, const PlanSurroundings& surroundings, void* workspace,
                         ingot_error* error);

}  // namespace ingot::engine
