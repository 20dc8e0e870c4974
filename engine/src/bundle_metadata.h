// A bundle's metadata as typed views. Only bundle_metadata.cc knows that it is a flatbuffer.
#pragma once

#include <ingot/engine.h>

#include <cstdint>

#include "engine/src/error.h"
#include "schema/bundle_header.h"
#include "schema/kernel_abi.h"
#include "schema/plan_records.h"

namespace ingot::engine {

// Views into the file; see schema/plan_records.h.
struct PlanView {
  const ingot_buffer_record* buffers = nullptr;
  const ingot_step_record* steps = nullptr;
  const ingot_operand* operands = nullptr;
  const uint32_t* operand_buffers = nullptr;  // one per operand
  uint32_t buffer_count = 0;
  uint32_t step_count = 0;
  uint32_t operand_count = 0;
  uint64_t arena_bytes = 0;
  uint64_t lower_bound_bytes = 0;
  uint64_t alignment_bytes = 0;
};

struct EntryView {
  const char* name = "";
  uint32_t input_count = 0;
  uint32_t output_count = 0;
};

struct StateView {
  ingot_tensor_info tensor = {};
  uint32_t start = 0;  // ingot_start
};

// A constant that was state in the program.
struct FrozenView {
  ingot_tensor_info tensor = {};
  uint64_t checksum = 0;  // of its values
};

// The metadata of an opened bundle. After a successful read(), every index below its count is good, every name is a
// string without inner zeros, every segment lies in the file, every state in the state region. Plans are only known to
// be well-formed tables: verify_plan (verify_plan.h) proves the rest.
class Metadata {
 public:
  // Checks the header, the checksum and all of the metadata of a bundle in file[0, file_bytes).
  ingot_status read(const uint8_t* file, uint64_t file_bytes, ingot_error* error);

  const char* name() const;
  const char* producer() const;
  uint64_t state_bytes() const;
  uint32_t entry_count() const;
  uint32_t state_count() const;
  uint32_t target_count() const;
  uint32_t frozen_count() const;

  EntryView entry(uint32_t entry) const;
  ingot_tensor_info port(uint32_t entry, uint32_t port) const;         // the inputs, then the outputs
  const uint8_t* input_default(uint32_t entry, uint32_t input) const;  // null: there is none
  StateView state(uint32_t state) const;
  FrozenView frozen(uint32_t frozen) const;
  PlanView plan(uint32_t target, uint32_t entry) const;

  const char* target_name(uint32_t target) const;
  const ingot_segment_record* code(uint32_t target) const;
  const ingot_segment_record* rodata(uint32_t target) const;        // null: there is none
  const ingot_segment_record* initial_state() const;                // null: there is none
  const char* kernel_name(uint32_t target, uint32_t kernel) const;  // "" if it was stripped

 private:
  const void* root_ = nullptr;  // schema::Bundle
};

}  // namespace ingot::engine
