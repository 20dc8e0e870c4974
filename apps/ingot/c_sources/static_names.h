// What static sources call the parts of a bundle, and the memory that these take.
#pragma once

#include <string>
#include <vector>

#include "aot/bundle/bundle.h"

namespace ingot {

struct StaticPort {
  const bundle::Tensor* tensor;
  std::string variable;
};

struct StaticEntry {
  const bundle::Entry* entry;
  const bundle::Plan* plan;
  std::string function;
  std::vector<StaticPort> inputs, outputs;

  bool initializes() const { return entry->name == "init"; }  // as the engine knows it
};

struct StaticNames {
  std::string prefix;
  std::vector<StaticEntry> entries;
  std::vector<std::string> states;   // members of the struct PREFIX_state
  std::vector<std::string> kernels;  // symbols
};

// Of a bundle of one target.
StaticNames static_names(const bundle::BundleSpec& spec, const std::string& prefix);

struct StaticSizes {
  uint64_t alignment_bytes, arena_bytes, state_bytes, scratch_bytes, ports_bytes, stack_bytes;  // memory
  uint64_t code_bytes, constant_bytes, first_value_bytes;                                       // read only
};

StaticSizes static_sizes(const bundle::BundleSpec& spec);

}  // namespace ingot
