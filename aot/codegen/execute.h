// Runs compiled kernels in this process: for tests, measurements and `--check`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "aot/codegen/code_image.h"
#include "schema/kernel_abi.h"

namespace ingot::codegen {

// An image mapped executable (written first, then made read and execute), until this object goes.
class Executable {
 public:
  explicit Executable(const CodeImage& image);
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  ingot_kernel entry(size_t kernel) const { return reinterpret_cast<ingot_kernel>(memory_ + entries_[kernel]); }

  // Runs one task of a kernel. `buffers` has the start of each input and output, in the kernel's order, aligned to
  // INGOT_BUFFER_ALIGNMENT_BYTES; `scratch` likewise (null when the kernel needs none).
  void run(size_t kernel, std::span<std::byte* const> buffers, int64_t task, std::byte* scratch = nullptr) const;

 private:
  std::byte* memory_ = nullptr;
  size_t bytes_ = 0;
  std::vector<uint64_t> entries_;
};

}  // namespace ingot::codegen
