// Arrays from and to files, for the command line: NumPy's .npy, safetensors, and made-up data.
#pragma once

#include <ingot/engine.h>

#include <span>
#include <string>
#include <vector>

#include "aot/base/safetensors.h"
#include "apps/ingot/device.h"

namespace ingot {

// Fills `to`, the memory of `tensor`, from what the user wrote:
//   @FILE.npy   @FILE.safetensors:KEY   random   a number (every element)
// Dtype and shape must agree exactly. Throws an Error that names both.
void fill_tensor(const ingot_tensor_info& tensor, const std::string& source, std::span<std::byte> to);

// Where the value of an input comes from so far.
enum class InputSource { kNone, kDefault, kUser };

// Fills inputs of an entry from settings NAME=SOURCE, as above. Tells of every input where its value comes from.
std::vector<InputSource> fill_inputs(const Device& device, uint32_t entry, const std::vector<std::string>& settings,
                                     const Device::Bound& bound);

// One number in every element.
void fill_number(const ingot_tensor_info& tensor, double value, std::span<std::byte> to);

// Reproducible made-up data: floats normal, integers 0 or 1, keyed by the tensor's name.
void fill_random(const ingot_tensor_info& tensor, std::span<std::byte> to);

// The only element of a scalar as a number.
double scalar_value(const ingot_tensor_info& tensor, std::span<const std::byte> data);

void write_npy(const std::string& path, const ingot_tensor_info& tensor, std::span<const std::byte> data);

// The rows that a data file has for the inputs of an entry point: for each input, the tensor whose name is the input's,
// or has it as a dotted suffix, or is one of it; its first dimension is the step. An input with a default needs none,
// and one that the user has given takes none.
class Batches {
 public:
  Batches(const std::string& path, const std::vector<ingot_tensor_info>& inputs,
          const std::vector<InputSource>& sources);

  int64_t count() const { return count_; }
  void fill(int64_t step, std::span<const std::span<std::byte>> inputs) const;  // step counts modulo count()

 private:
  SafeTensors file_;
  std::vector<std::span<const std::byte>> rows_;  // all rows of an input; empty where it takes none
  int64_t count_ = 0;
};

}  // namespace ingot
