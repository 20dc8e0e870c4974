// What `ingot run` runs: an entry point, with as many rows as the arrays that a user gives.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "apps/ingot/device/device.h"

namespace ingot {

struct WantedCall {
  uint32_t entry = 0;
  std::vector<ingot_tensor_info> inputs, outputs;  // of the entry point: with the rows that are wanted
  std::deque<std::vector<uint64_t>> dims;          // of those that are fewer
};

// The entry point `name`; or, where that is a program at several sizes, the one of them that the shapes of the arrays in
// `settings` (NAME=@FILE...) ask for. An empty name is the only entry point or program, or else as Device::find_entry has
// it. Throws an Error, or engine::Failure where no size fits.
WantedCall wanted_call(const Device& device, const std::string& name, const std::vector<std::string>& settings);

}  // namespace ingot
