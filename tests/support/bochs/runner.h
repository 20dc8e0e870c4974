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

// Whether the target's code is to be run by Bochs: with INGOT_EMULATE=1, where there is one.
bool is_for_bochs(const loops::Target& target);

class BochsRunner : public CodeRunner {
 public:
  BochsRunner(const loops::Target& target, const codegen::CodeImage& image);
  ~BochsRunner() override;
  BochsRunner(const BochsRunner&) = delete;
  BochsRunner& operator=(const BochsRunner&) = delete;

  std::span<std::byte> memory(int64_t bytes) override;
  void run(size_t kernel, std::span<const int64_t> operands, int64_t scratch, int64_t task) override;
  bool is_faithful(size_t kernel) const override { return is_faithful_.at(kernel); }

 private:
  void write_configuration() const;
  void start();
  void write_context(std::span<const int64_t> operands, int64_t scratch);
  void wait_for_answer(size_t kernel, int64_t task);

  std::filesystem::path folder_;
  std::vector<uint64_t> entry_offsets_;
  std::vector<bool> is_faithful_;
  int64_t memory_start_;      // on the disk
  int64_t memory_bytes_ = 0;  // as last asked for
  std::byte* disk_ = nullptr;
  pid_t process_ = 0;
  uint64_t calls_ = 0;
};

}  // namespace ingot
