// A graph that was compiled, opened in the engine.
#pragma once

#include <vector>

#include "aot/graph/graph.h"
#include "aot/lazy/memory.h"

namespace ingot::lazy {

class Executable {
 public:
  // `module` has one function, whose inputs and outputs have the names of recording.h.
  Executable(std::unique_ptr<Module> module, const std::string& target, uint32_t threads);

  // Reads inputs where they lie. The outputs' memory is new.
  std::vector<MemoryRef> run(const std::vector<MemoryRef>& inputs);

 private:
  engine::AlignedBytes bytes_;
  engine::Bundle bundle_;
  engine::Session session_;
  std::vector<uint32_t> input_indices_, output_indices_;  // in the bundle
};

}  // namespace ingot::lazy
