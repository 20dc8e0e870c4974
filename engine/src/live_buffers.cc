#include "engine/src/live_buffers.h"

#include <cstring>

namespace ingot::engine {

bool LiveBuffers::add(uint32_t index, uint32_t group_begin) {
  const ingot_buffer_record& buffer = plan_.buffers[index];
  if (buffer.bytes == 0) return true;
  const Extent bytes = {buffer.offset_bytes, buffer.offset_bytes + buffer.bytes};
  uint32_t at = first_ending_after(bytes.begin);
  while (at < live_count_ && live_[at].bytes.begin < bytes.end) {
    LiveExtent& other = live_[at];
    const bool dead = plan_.buffers[other.buffer].last_step < group_begin;
    if (!dead && other.buffer != buffer.in_place_of) return false;
    if (!dead && other.bytes.end > bytes.end) {
      other.bytes.begin = bytes.end;  // the rest of a longer buffer stays alive to the end of its last step
      break;
    }
    remove(at);
  }
  insert(at, {bytes, index});
  return true;
}

uint32_t LiveBuffers::first_ending_after(uint64_t offset) const {
  uint32_t low = 0, high = live_count_;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (live_[middle].bytes.end > offset) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

void LiveBuffers::insert(uint32_t at, const LiveExtent& extent) {
  std::memmove(&live_[at + 1], &live_[at], (live_count_ - at) * sizeof(LiveExtent));
  live_[at] = extent;
  ++live_count_;
}

void LiveBuffers::remove(uint32_t at) {
  --live_count_;
  std::memmove(&live_[at], &live_[at + 1], (live_count_ - at) * sizeof(LiveExtent));
}

}  // namespace ingot::engine
