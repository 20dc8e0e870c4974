// Weights back into an ONNX model.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "aot/base/safetensors.h"

namespace ingot::onnx {

struct Exported {
  std::string model;                  // the bytes of the file
  std::vector<std::string> replaced;  // the weights that have new values
  std::vector<std::string> unused;    // of `values`: what the model has no initializer for
};

// The model at `path` with these values in the place of its initializers of the same names; all else stays as it is, byte
// for byte. Weights that lie in files beside the model lie in the model itself then.
//
// Throws an Error for a value of another type or shape than its initializer, and for a model above protobuf's 2 GiB.
Exported export_weights(const std::string& path, const std::map<std::string, SafeTensor>& values);

}  // namespace ingot::onnx
