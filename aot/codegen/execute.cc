#include "aot/codegen/execute.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "aot/base/divide.h"
#include "aot/base/error.h"

namespace ingot::codegen {

Executable::Executable(const CodeImage& image) : entries_(image.entry_offsets) {
  bytes_ = round_up(image.bytes.size(), image.alignment_bytes);
  if (bytes_ == 0) return;
  void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw_error(nullptr, std::string("cannot map memory for code: ") + std::strerror(errno));
  memory_ = static_cast<std::byte*>(memory);
  std::memcpy(memory_, image.bytes.data(), image.bytes.size());
  if (mprotect(memory_, bytes_, PROT_READ | PROT_EXEC) != 0) {
    munmap(memory_, bytes_);
    throw_error(nullptr, std::string("cannot make memory executable: ") + std::strerror(errno));
  }
  __builtin___clear_cache(reinterpret_cast<char*>(memory_), reinterpret_cast<char*>(memory_ + bytes_));
}

Executable::~Executable() {
  if (memory_) munmap(memory_, bytes_);
}

void Executable::run(size_t kernel, std::span<std::byte* const> buffers, int64_t task, std::byte* scratch) const {
  std::vector<uint8_t*> bases;
  std::vector<ingot_operand> operands;
  for (std::byte* const buffer : buffers) {
    operands.push_back({.offset_bytes = 0, .base = static_cast<uint32_t>(bases.size()), .reserved = 0});
    bases.push_back(reinterpret_cast<uint8_t*>(buffer));
  }
  const ingot_kernel_context context{bases.data(), operands.data(), reinterpret_cast<uint8_t*>(scratch)};
  entry(kernel)(&context, static_cast<uint32_t>(task));
}

}  // namespace ingot::codegen
