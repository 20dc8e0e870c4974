// Code runs where it lies: in flash, or in memory that the application has made executable.
#include "engine/src/code_segment.h"
#include "engine/src/memory_cursor.h"

namespace ingot::engine {
namespace {

// What code counts on where it lies. On aarch64 it finds its constants page by page.
#if defined(__aarch64__)
constexpr uint32_t kCodeAlignmentBytes = 4096;
#else
constexpr uint32_t kCodeAlignmentBytes = 64;
#endif

}  // namespace

ingot_status map_code(const FileBytes&, uint64_t, const uint8_t* code, uint64_t byte_count, CodeImage* out,
                      ingot_error* error) {
  if (!is_aligned(code, kCodeAlignmentBytes)) {
    return fail(error, INGOT_MISALIGNED, "the bundle's bytes must start at a multiple of %u: code runs where it lies",
                kCodeAlignmentBytes);
  }
  *out = {code, byte_count};
  return INGOT_OK;
}

void unmap_code(CodeImage* image) { *image = CodeImage(); }

}  // namespace ingot::engine
