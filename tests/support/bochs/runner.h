// Code for AVX-512, run by Bochs: a PC whose firmware calls kernels as it is told.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "aot/codegen/code_image.h"
#include "tests/support/code_runner.h"

namespace ingot {

// Why Bochs cannot run here; nothing where it can.
std::optional<std::string> why_no_bochs();

class BochsRunner : public CodeRunner {
 public:
  explicit BochsRunner(const codegen::CodeImage& image);
  ~BochsRunner() override;
  BochsRunner(const BochsRunner&) = delete;
  BochsRunner& operator=(const BochsRunner&) = delete;

  std::span<std::byte> memory(int64_t bytes) override;
  void run(size_t kernel, std::span<const int64_t> operands, int64_t scratch, int64_t task) override;

 private:
  void write_configuration() const;
  void start();
  void write_context(std::span<const int64_t> operands, int64_t scratch);
  void wait_for_answer(size_t kernel, int64_t task);

  std::filesystem::path folder_;
  std::vector<uint64_t> entry_offsets_;
  int64_t memory_start_;      // on the disk
  int64_t memory_bytes_ = 0;  // as last asked for
  std::byte* disk_ = nullptr;
  pid_t process_ = 0;
  uint64_t calls_ = 0;
};

}  // namespace ingot
