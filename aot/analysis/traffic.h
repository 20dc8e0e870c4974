// What a fused function moves and computes: its kernels, and how many bytes pass between them.
#pragma once

#include <string>
#include <vector>

#include "aot/graph/graph.h"

namespace ingot {

struct Traffic {
  struct Kernel {
    std::string name;
    int64_t read_bytes = 0;     // of operands, each once
    int64_t written_bytes = 0;  // of results
    int64_t flops = 0;
  };
  std::vector<Kernel> kernels;
  int64_t read_bytes = 0;
  int64_t written_bytes = 0;
  int64_t flops = 0;
  int64_t between_bytes = 0;  // of values that one kernel writes for another: what fusion could still save
};

Traffic measure_traffic(const Function& function);

// One line for each kernel, and the sums.
std::string to_string(const Traffic& traffic, const std::string& function_name);

}  // namespace ingot
