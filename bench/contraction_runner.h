// A contraction of the suite as a program that the engine runs, for measurements.
#pragma once

#include <algorithm>
#include <ingot/engine.hpp>

#include "aot/pipeline/compile.h"
#include "tests/support/contraction_suite.h"

namespace ingot::bench {

// The problem as a bundle for one target, of those that this machine runs; takes its module.
inline engine::AlignedBytes compiled(ContractionProblem& problem, std::string_view target = "host") {
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(std::move(problem.module));
  CompileOptions options;
  options.math = Math::kExact;  // convolutions stay
  options.targets = {std::string(target)};
  const std::vector<std::byte> file = bundle::write_bundle(compile(std::move(modules), options).spec);
  engine::AlignedBytes bytes(file.size(), 64);
  std::ranges::copy(file, bytes.data());
  return bytes;
}

// A program with one input after the other, run by the engine.
class Runner {
 public:
  Runner(const engine::AlignedBytes& bytes, uint32_t threads)
      : bundle_(std::span<const std::byte>(bytes.data(), bytes.size())), session_(bundle_, threads) {
    const engine::Entry entry = session_.entry(0);
    for (uint32_t i = 0; i < bundle_.entry(0).input_count; ++i) {
      const std::span<float> values = entry.input<float>(bundle_.input(0, i).name);
      for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k % 17) / 17 - 0.5f;
    }
    run();
  }

  void run() { session_.entry(0).run(); }
  size_t steps() const { return bundle_.entry(0).step_count; }

 private:
  engine::Bundle bundle_;
  engine::Session session_;
};

}  // namespace ingot::bench
