// Runs compiled kernels on memory of its own: on this processor, or in an emulator of another one. With INGOT_EMULATE=1
// AVX-512 is emulated too, by Bochs, also where this processor has it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "aot/codegen/code_image.h"
#include "aot/loops/target.h"

namespace ingot {

class CodeRunner {
 public:
  virtual ~CodeRunner() = default;

  // So many bytes, aligned as kernels are promised; what they hold is unspecified. They replace those given before.
  virtual std::span<std::byte> memory(int64_t bytes) = 0;
  // One task of a kernel. Operands, in the order of its parameters, and scratch are offsets in the memory.
  // Only of a kernel that it runs as the target's processors do.
  virtual void run(size_t kernel, std::span<const int64_t> operands, int64_t scratch, int64_t task) = 0;
  // An emulator may have faults of its own.
  virtual bool is_faithful(size_t kernel) const { return static_cast<void>(kernel), true; }
};

// Names of the whole target table, the best first: what every program that a test compiles is compiled for.
std::vector<std::string> every_target();

// Whether code for a target can be run, here or emulated; says once why not.
bool can_run(const loops::Target& target);

// Whether the `k`-th of many kernels is tried for a target: rows of an ISA that is not this machine's take turns, since an
// emulator runs their code, so that a test takes no longer for each row of the table. With INGOT_EVERY_TARGET=1 all are.
bool takes_turn(const loops::Target& target, int64_t k);

// For a target of which code can be run.
std::unique_ptr<CodeRunner> make_code_runner(const loops::Target& target, const codegen::CodeImage& image);

}  // namespace ingot
