// A code segment: what it says about its kernels, and its image made executable.
#pragma once

#include <cstdint>

#include "engine/src/error.h"
#include "engine/src/file_bytes.h"
#include "schema/bundle_header.h"
#include "schema/kernel_abi.h"

namespace ingot::engine {

// Views into the segment; see schema/bundle_header.h.
struct CodeView {
  const ingot_kernel_record* kernels = nullptr;
  const ingot_parameter_record* parameters = nullptr;
  const char* features = nullptr;  // "avx2,fma"
  const uint8_t* image = nullptr;
  uint32_t kernel_count = 0;
  uint32_t features_bytes = 0;
  uint64_t image_offset = 0;  // in the segment
  uint64_t image_bytes = 0;
  bool tells_places = false;
  char isa[16] = {};
};

// Checks that the tables lie in the segment and agree with each other. The checksum is the caller's to check.
ingot_status read_code_segment(const uint8_t* segment, uint64_t segment_bytes, CodeView* out, ingot_error* error);

// Executable memory: never writable at the same time.
struct CodeImage {
  const uint8_t* bytes = nullptr;
  uint64_t byte_count = 0;
};

// The function that starts at an offset of the image. The lowest bit of an address tells ARM's processors that the
// instructions are Thumb's.
inline ingot_kernel kernel_at(const CodeImage& image, uint32_t code_offset) {
#if defined(__thumb__)
  constexpr uintptr_t kInstructionSet = 1;
#else
  constexpr uintptr_t kInstructionSet = 0;
#endif
  return reinterpret_cast<ingot_kernel>(reinterpret_cast<uintptr_t>(image.bytes + code_offset) | kInstructionSet);
}

// Maps `byte_count` bytes of code that lie at `code` and, if file.descriptor is a file, at file_offset in it. From a
// file the mapping is of the file itself; where that is not possible, and for code in memory, it is of a sealed copy.
// An engine without files runs code where it lies.
ingot_status map_code(const FileBytes& file, uint64_t file_offset, const uint8_t* code, uint64_t byte_count,
                      CodeImage* out, ingot_error* error);
void unmap_code(CodeImage* image);

}  // namespace ingot::engine
