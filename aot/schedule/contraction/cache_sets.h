// What lies apart in memory, a piece at each step: which sets of caches it shares, which pages it meets.
#pragma once

#include <cstdint>

#include "aot/loops/target.h"

namespace ingot::schedule {

// How much fuller the fullest sets of the first-level cache are than if all were alike, of pieces that are so far apart.
double crowding(const loops::Machine& machine, int64_t apart_bytes, int64_t piece_bytes);

// What so many pieces take of that cache, counted as if all sets were as full as the fullest: pieces that are a large part
// of the critical stride apart share a few of them.
double crowded_bytes(const loops::Machine& machine, int64_t pieces, int64_t apart_bytes, int64_t piece_bytes);

// Whether lines that are so far apart are more than the sets of the second-level cache hold that they share.
bool overflow_sets(const loops::Machine& machine, int64_t lines, int64_t apart_bytes);

// How far steps are on the way to the next page, from which on no prefetcher foresees them; 0 where they are few.
double far_share(const loops::Machine& machine, int64_t steps, int64_t step_bytes);

}  // namespace ingot::schedule
