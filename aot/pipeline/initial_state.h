// The first values of state, from a file into a bundle.
#pragma once

#include <string>

#include "aot/bundle/bundle.h"
#include "aot/plan/tables.h"

namespace ingot {

// Every state of `spec`, whose table is `state`, starts with the tensor of its name in a safetensors file; tensors that
// are no state are left alone. Throws an Error for a state that the file has with another type, or that neither the
// file nor the entry point init gives a value.
void set_initial_state(const plan::StateTable& state, const std::string& path, bundle::BundleSpec& spec);

}  // namespace ingot
