// Divides a caller's block of memory among the objects that live in it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::engine {

constexpr uint64_t kBlockAlignmentBytes = 64;

constexpr uint64_t round_up(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

inline bool is_aligned(const void* pointer, uint64_t alignment_bytes) {
  return reinterpret_cast<uintptr_t>(pointer) % alignment_bytes == 0;
}

// Started at null, it only counts: the same code that lays a block out then tells how large the block must be.
class MemoryCursor {
 public:
  explicit MemoryCursor(void* block) : block_(static_cast<uint8_t*>(block)) {}

  // Room for `count` objects, at a multiple of 64 bytes. Not initialized; not to be touched when only counting.
  template <typename T>
  T* take(uint64_t count) {
    const uint64_t at = used_bytes_;
    used_bytes_ = round_up(at + count * sizeof(T), kBlockAlignmentBytes);
    return block_ ? reinterpret_cast<T*>(block_ + at) : nullptr;
  }

  uint64_t used_bytes() const { return used_bytes_; }

 private:
  uint8_t* block_;
  uint64_t used_bytes_ = 0;
};

}  // namespace ingot::engine
