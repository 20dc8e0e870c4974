// The graphs that a device has compiled. One is found by its hash, and then compared in full. A number that differs
// from what it was becomes an input: a learning rate that changes from step to step compiles once more, not always.
#pragma once

#include <list>

#include "aot/lazy/executable.h"
#include "aot/lazy/metrics.h"
#include "aot/lazy/recording.h"

namespace ingot::lazy {

class Programs {
 public:
  Programs(std::string target, uint32_t threads, Metrics& metrics)
      : target_(std::move(target)), threads_(threads), metrics_(metrics) {}

  // The values of the recording's results.
  std::vector<MemoryRef> run(Recording recording);

 private:
  struct Program {
    Recording recording;  // without inputs
    Varying varying;
    std::unique_ptr<Executable> executable;
  };
  Program& compiled(Recording& recording);  // takes its module, where it is new
  Program* find(const Recording& recording);

  static constexpr size_t kProgramsMax = 256;

  std::string target_;
  uint32_t threads_;
  Metrics& metrics_;
  std::list<Program> programs_;  // the last used first
};

}  // namespace ingot::lazy
