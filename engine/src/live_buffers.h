// The parts of the arena that are taken, for the proof that no two live buffers overlap.
#pragma once

#include "engine/src/bundle_metadata.h"
#include "engine/src/extent.h"

namespace ingot::engine {

struct LiveExtent {
  Extent bytes;
  uint32_t buffer;
};

class LiveBuffers {
 public:
  // extents: one for each buffer.
  LiveBuffers(const PlanView& plan, LiveExtent* extents) : plan_(plan), live_(extents) {}

  // A buffer, inside the arena, comes alive in the group of steps that begins with step `group_begin`. False if another
  // that is alive lies there, other than the one it starts in place of.
  bool add(uint32_t buffer, uint32_t group_begin);

 private:
  uint32_t first_ending_after(uint64_t offset) const;
  void insert(uint32_t at, const LiveExtent& extent);
  void remove(uint32_t at);

  const PlanView& plan_;
  LiveExtent* live_;  // sorted and disjoint; the dead leave when something new needs their place
  uint32_t live_count_ = 0;
};

}  // namespace ingot::engine
