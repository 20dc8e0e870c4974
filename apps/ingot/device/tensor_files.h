// Arrays from and to files, for the command line: NumPy's .npy, safetensors, and made-up data.
#pragma once

#include <ingot/engine.h>

#include <span>
#include <string>
#include <vector>

#include "apps/ingot/device/device.h"

namespace ingot {

// Fills `to`, the memory of `tensor`, from what the user wrote:
//   @FILE.npy   @FILE.safetensors:KEY   random   a number (every element)
// The shape must be the same, and so must the element type, unless `cast` (stored_array.h). Throws an Error that
// names both.
void fill_tensor(const ingot_tensor_info& tensor, const std::string& source, bool cast, std::span<std::byte> to);

// Where the value of an input comes from so far.
enum class InputSource { kNone, kDefault, kUser };

// Fills `inputs` of an entry, which may have fewer rows than the entry's own, from settings NAME=SOURCE, as above. Tells
// of every input where its value comes from.
std::vector<InputSource> fill_inputs(const Device& device, uint32_t entry, const std::vector<ingot_tensor_info>& inputs,
                                     const std::vector<std::string>& settings, const Device::Bound& bound,
                                     bool cast = false);

// The shape of the array that a SOURCE is; none where it fits any shape.
std::vector<uint64_t> dims_of_source(const std::string& source);

// One number in every element.
void fill_number(const ingot_tensor_info& tensor, double value, std::span<std::byte> to);

// Reproducible made-up data: floats normal, integers 0 or 1, keyed by the tensor's name.
void fill_random(const ingot_tensor_info& tensor, std::span<std::byte> to);

// The only element of a scalar as a number.
double scalar_value(const ingot_tensor_info& tensor, std::span<const std::byte> data);

}  // namespace ingot
