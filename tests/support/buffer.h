// Memory aligned as kernels are promised; every byte starts as 0xFF, so that floats are NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schema/kernel_abi.h"

namespace ingot {

class Buffer {
 public:
  explicit Buffer(int64_t bytes) : storage_(bytes + 2 * INGOT_BUFFER_ALIGNMENT_BYTES, std::byte{0xFF}) {
    const auto address = reinterpret_cast<uintptr_t>(storage_.data());
    data_ = storage_.data() + (0 - address) % INGOT_BUFFER_ALIGNMENT_BYTES;
  }
  Buffer(Buffer&&) = default;  // the elements stay where they are

  std::byte* data() const { return data_; }

 private:
  std::vector<std::byte> storage_;
  std::byte* data_;
};

}  // namespace ingot
