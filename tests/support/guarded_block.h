// Memory that ends at a page which nothing may touch, and begins behind one.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "aot/base/divide.h"

namespace ingot::test {

class GuardedBlock {
 public:
  // The size is rounded up, to a multiple of the alignment.
  explicit GuardedBlock(uint64_t byte_count, uint64_t alignment_bytes = 64)
      : size_(round_up<uint64_t>(byte_count, alignment_bytes)) {
    const uint64_t page = page_bytes();
    map_bytes_ = round_up(size_, page) + 2 * page;
    void* map = mmap(nullptr, map_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || alignment_bytes > page) std::abort();
    map_ = static_cast<std::byte*>(map);
    mprotect(map_, page, PROT_NONE);
    mprotect(map_ + map_bytes_ - page, page, PROT_NONE);
    data_ = map_ + map_bytes_ - page - size_;
  }
  ~GuardedBlock() { munmap(map_, map_bytes_); }
  GuardedBlock(const GuardedBlock&) = delete;
  GuardedBlock& operator=(const GuardedBlock&) = delete;

  std::byte* data() const { return data_; }
  uint64_t size() const { return size_; }

  // The last `byte_count` bytes, from a multiple of 64 on: one more would be the guard.
  std::byte* tail(uint64_t byte_count) const { return data_ + size_ - round_up<uint64_t>(byte_count, 64); }

  // From now on, a write into it is as one behind its end.
  void make_read_only() const { mprotect(map_ + page_bytes(), map_bytes_ - 2 * page_bytes(), PROT_READ); }

 private:
  static uint64_t page_bytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

  uint64_t size_;
  uint64_t map_bytes_;
  std::byte* map_;
  std::byte* data_;
};

}  // namespace ingot::test
