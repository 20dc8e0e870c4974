// Ranges of bytes.
#pragma once

#include <cstdint>

namespace ingot::engine {

// [begin, end) in bytes.
struct Extent {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t bytes() const { return end - begin; }
  bool contains(const Extent& other) const { return other.begin >= begin && other.end <= end; }
};

inline bool overlap(const Extent& a, const Extent& b) { return a.begin < b.end && b.begin < a.end; }

inline Extent hull(const Extent& a, const Extent& b) {
  return {a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

inline Extent intersection(const Extent& a, const Extent& b) {
  return {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
}

}  // namespace ingot::engine
