// A program compiled for any target of which code can be run, its plan walked by the test: what the engine does, for
// code that may be emulated.
#pragma once

#include "aot/bundle/bundle.h"
#include "tests/support/code_runner.h"
#include "tests/support/program_runner.h"

namespace ingot {

class WalkedProgram {
 public:
  // The target is one of the bundle's.
  WalkedProgram(const bundle::BundleSpec& spec, const loops::Target& target);

  // Whether its code is run as the target's processors run it (CodeRunner::is_faithful); only then `run` may be called.
  bool is_faithful(const std::string& entry) const;

  // As Executor::run.
  NamedTensors run(const std::string& entry, NamedTensors& state, const NamedTensors& inputs);

 private:
  struct Memory;

  size_t index_of(const std::string& entry) const;
  void write_inputs(Memory& memory, const bundle::Entry& entry, const NamedTensors& state,
                    const NamedTensors& inputs) const;
  NamedTensors read_outputs(const Memory& memory, const bundle::Entry& entry, NamedTensors& state) const;
  void walk(const Memory& memory, const bundle::Plan& plan);

  const bundle::BundleSpec& spec_;
  const bundle::Target& target_;
  std::unique_ptr<CodeRunner> code_;
};

}  // namespace ingot
