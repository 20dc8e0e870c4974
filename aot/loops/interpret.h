// Runs a kernel without a compiler: the meaning of every node, in the plainest way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "aot/loops/loop.h"

namespace ingot::loops {

// Which task wrote each element of each buffer: tasks run side by side, so that no two may write one.
class Writers {
 public:
  explicit Writers(const Kernel& kernel);

  // False where another task wrote the element.
  bool note(BufferId buffer, int64_t element, int64_t task);

 private:
  std::vector<std::vector<int64_t>> tasks_;  // of outputs
};

// Floats are computed in their own precision, one rounding for each primitive operation; math functions (exp, tanh, ...)
// in f64, then rounded. Reading or writing outside a buffer is a kBug error that names the buffer; so is writing what
// another task wrote, where `writers` are noted.
class Interpreter {
 public:
  explicit Interpreter(const Kernel& kernel);  // which outlives this
  ~Interpreter();

  // Runs one task. `buffers` has the start of each input and output in the kernel's order; scratch is made here, and
  // filled with a pattern, since its contents are undefined at entry.
  void run(std::span<std::byte* const> buffers, int64_t task, Writers* writers = nullptr);

 private:
  class Program;
  std::unique_ptr<Program> program_;
};

// Every task in ascending order.
void interpret_all(const Kernel& kernel, std::span<std::byte* const> buffers);

}  // namespace ingot::loops
