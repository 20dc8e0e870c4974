// Without zlib: segments are read as they are stored.
#include "engine/src/inflate.h"

#include <cstring>

namespace ingot::engine {

ingot_status check_readable(const ingot_segment_record& segment, const char* what, ingot_error* error) {
  if (segment.compression == INGOT_COMPRESSION_NONE) return INGOT_OK;
  return fail(error, INGOT_UNKNOWN_FEATURE,
              "the %s is compressed, and this engine was built without zlib (INGOT_ENGINE_FILES=OFF)", what);
}

SegmentReader::SegmentReader(const ingot_segment_record& segment, const uint8_t* stored, void*)
    : at_(stored), left_bytes_(segment.stored_bytes) {}

SegmentReader::~SegmentReader() = default;

bool SegmentReader::read(uint8_t* out, uint64_t byte_count) {
  if (byte_count > left_bytes_) return false;
  std::memcpy(out, at_, byte_count);
  at_ += byte_count;
  left_bytes_ -= byte_count;
  return true;
}

}  // namespace ingot::engine
