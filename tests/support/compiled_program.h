// Programs compiled for the targets that INGOT_TARGETS names (ctest: this machine's), or with INGOT_EVERY_TARGET=1 for all,
// of which the engine runs what this processor can.
#pragma once

#include <memory>

#include "aot/bundle/bundle.h"
#include "aot/pipeline/compile.h"
#include "tests/support/program_runner.h"

namespace ingot {

// A module's public functions in one bundle, in memory.
class CompiledProgram {
 public:
  explicit CompiledProgram(const Module& module, const CompileOptions& options = {});
  ~CompiledProgram();

  const bundle::BundleSpec& spec() const;

  // As Executor::run, on so many threads. One session for each number of threads.
  NamedTensors run(const std::string& entry, uint32_t threads, NamedTensors& state, const NamedTensors& inputs);

 private:
  struct Opened;

  std::unique_ptr<Opened> opened_;
};

// Compiles a module at its first run and keeps the code; modules stay as they are until the executor is gone.
class CompiledExecutor : public Executor {
 public:
  explicit CompiledExecutor(uint32_t threads = 2) : threads_(threads) {}

  NamedTensors run(const Module& module, const std::string& entry, NamedTensors& state,
                   const NamedTensors& inputs) override;

 private:
  uint32_t threads_;
  std::map<const Module*, CompiledProgram> programs_;
};

// A copy of the module in which f32 stands for f64: types, constants, conversions and all.
std::unique_ptr<Module> in_f32(const Module& module);

}  // namespace ingot
