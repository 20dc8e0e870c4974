// The first values of state, from a file into a bundle.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "aot/base/safetensors.h"
#include "aot/bundle/bundle.h"
#include "aot/graph/graph.h"
#include "aot/plan/tables.h"

namespace ingot {

// The source of first values that stands for zero in every state that the entry point init leaves alone.
inline constexpr const char* kZeroState = "zeros";

// What ingot.torch and ingot.jax call the file of first values beside their programs.
inline constexpr const char* kStateFile = "state.safetensors";

// Gives the states of `spec`, whose table is `state`, their first values. `source`:
//   kZeroState
//   a safetensors file: of every state, the tensor of its name; tensors that are no state are left alone
//   ""    none: it is for the entry point init, one of `entries`, or for whoever runs the bundle
// `values` are those that programs bring with them (ONNX models do), for states that the source leaves alone.
// Throws an Error for a state that the file has with another type, or that has no value although there is a file or init.
void set_initial_state(const plan::StateTable& state, const std::vector<Function*>& entries, const std::string& source,
                       const std::map<std::string, SafeTensor>& values, bundle::BundleSpec& spec);

}  // namespace ingot
