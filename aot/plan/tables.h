// What the plans of a bundle's entry points share: state, constants and kernels.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "aot/graph/literal.h"
#include "aot/loops/loop.h"

namespace ingot::plan {

// A tensor that lives from run to run and from entry point to entry point.
struct StateSlot {
  std::string name;
  TensorType type;
  std::string role;  // "param", "buffer", "optimizer", or "" when nobody said
  int64_t offset_bytes = 0;
};

// The state of all entry points, by name, in the order of first appearance.
class StateTable {
 public:
  // The slot of this name: a new one of this type and role where there is none yet.
  const StateSlot& add(const std::string& name, const TensorType& type, const std::string& role);

  const std::vector<StateSlot>& slots() const { return slots_; }
  int find(const std::string& name) const;  // -1 when there is none
  int64_t bytes() const { return bytes_; }

 private:
  std::vector<StateSlot> slots_;
  std::map<std::string, int> by_name_;
  int64_t bytes_ = 0;
};

// Constant data, each distinct content once.
class RodataPool {
 public:
  int64_t add(const Literal& literal);  // its offset
  bool has(const Literal& literal) const;
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  std::map<std::string, int64_t> offsets_;  // by content
};

// Kernels, each distinct one once.
class KernelTable {
 public:
  int add(const loops::Kernel& kernel);  // its index
  const std::vector<loops::Kernel>& kernels() const { return kernels_; }

 private:
  std::vector<loops::Kernel> kernels_;
  std::map<std::string, int> by_key_;
};

}  // namespace ingot::plan
