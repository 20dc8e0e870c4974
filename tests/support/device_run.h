// A training run on the engine, with everything that it leaves behind, bit for bit.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace ingot {

struct DeviceRun {
  std::vector<std::map<std::string, double>> scalars;  // the scalar outputs of each step
  std::string outputs;                                 // the bytes of all outputs of all steps
  std::string state;                                   // after the last step: a safetensors file

  bool operator==(const DeviceRun&) const = default;
};

// Opens a bundle and runs its training step `steps` times. The first state and the batches are those of the safetensors
// file `data_path`; if that is empty, what `init` gives, and random batches, the same each time. The last state stays
// beside the bundle, in BUNDLE.safetensors.
DeviceRun train_on_device(const std::string& bundle_path, const std::string& data_path, int steps, uint32_t threads);

}  // namespace ingot
