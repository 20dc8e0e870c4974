// The bytes of a tensor. Shared by all that hold its value; written once, by what computes it, and then read only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ingot/engine.hpp>
#include <memory>
#include <span>

namespace ingot::lazy {

class Memory {
 public:
  explicit Memory(uint64_t byte_count)
      : block_(std::max<uint64_t>(byte_count, 1), kAlignmentBytes), byte_count_(byte_count) {}

  std::byte* data() const { return block_.data(); }
  uint64_t size() const { return byte_count_; }
  std::span<const std::byte> bytes() const { return {data(), size()}; }

 private:
  static constexpr uint64_t kAlignmentBytes = 64;  // what the engine asks of inputs and outputs

  engine::AlignedBytes block_;
  uint64_t byte_count_;
};
using MemoryRef = std::shared_ptr<const Memory>;

}  // namespace ingot::lazy
