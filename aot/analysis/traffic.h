// What a fused function moves and computes: its kernels, and how many bytes pass between them.
#pragma once

#include <string>
#include <vector>

#include "aot/graph/graph.h"

namespace ingot {

// The kernels of a function in program order, those in its loops and branches as well.
std::vector<const Op*> kernels_of(const Function& function);

struct Traffic {
  struct Kernel {
    std::string name;
    int64_t read_bytes = 0;     // of operands, each once, as far as they are read
    int64_t written_bytes = 0;  // of results; of those that update an operand, the window
    int64_t flops = 0;
  };
  std::vector<Kernel> kernels;
  int64_t read_bytes = 0;
  int64_t written_bytes = 0;
  int64_t flops = 0;
  int64_t between_bytes = 0;  // of values that one kernel writes for another: what fusion could still save
};

Traffic::Kernel measure_kernel(const Op& kernel);
Traffic measure_traffic(const Function& function);

// One line for each kernel, and the sums.
std::string to_string(const Traffic& traffic, const std::string& function_name);

}  // namespace ingot
