// An opened bundle: the file, its metadata, and the code of the target picked for this processor.
#pragma once

#include <ingot/engine.h>

#include "engine/src/bundle_metadata.h"
#include "engine/src/code_segment.h"
#include "engine/src/file_bytes.h"

struct ingot_bundle {
  ingot::engine::FileBytes file;
  ingot::engine::Metadata metadata;
  ingot::engine::CodeView code;
  ingot::engine::CodeImage image;
  const uint8_t* rodata = nullptr;
  uint64_t rodata_bytes = 0;
  uint32_t target = 0;
  ingot_requirements requirements = {};

  const uint8_t* segment_bytes(const ingot_segment_record& segment) const { return file.bytes + segment.offset; }
};

namespace ingot::engine {

// The options that are meant: null is the defaults.
const ingot_open_options& chosen(const ingot_open_options* options);

// For ingot_probe_*. The file is given back.
ingot_status probe_bundle(const FileBytes& file, const ingot_open_options& options, ingot_requirements* out,
                          ingot_error* error);

// For ingot_open_*. On failure the file is given back.
ingot_status open_bundle(const FileBytes& file, const ingot_open_options& options, void* memory, uint64_t memory_bytes,
                         ingot_bundle** out, ingot_error* error);

// The most scratch that a step of the plan asks for; a multiple of 64.
uint64_t plan_scratch_bytes(const CodeView& code, const PlanView& plan);

}  // namespace ingot::engine
