// A stored segment as a stream of bytes, inflated if it is compressed. files/inflate.cc is the only user of zlib.
#pragma once

#include <cstdint>

#include "engine/src/bundle_metadata.h"

namespace ingot::engine {

// What zlib is given instead of an allocator.
constexpr uint64_t kInflateWorkspaceBytes = 64 * 1024;

// INGOT_UNKNOWN_FEATURE if a segment, called `what`, is compressed and the engine cannot inflate.
ingot_status check_readable(const ingot_segment_record& segment, const char* what, ingot_error* error);

class SegmentReader {
 public:
  // `stored` are the segment's bytes in the file. `workspace` is used if it is compressed.
  SegmentReader(const ingot_segment_record& segment, const uint8_t* stored, void* workspace);
  ~SegmentReader();
  SegmentReader(const SegmentReader&) = delete;
  SegmentReader& operator=(const SegmentReader&) = delete;

  // The next bytes. False if the segment has no more, or is not what it says.
  bool read(uint8_t* out, uint64_t byte_count);

 private:
  const uint8_t* at_;
  uint64_t left_bytes_;
  void* stream_ = nullptr;  // z_stream, in the workspace
};

}  // namespace ingot::engine
