// Reads ONNX files.
#pragma once

#include <memory>
#include <string>

#include "aot/frontend/onnx/model.h"

namespace ingot::onnx {

// Maps the file and reads its messages. Every length is checked against the file, and what is built is bounded by a
// multiple of the file's size. Throws an Error that names the path for what is no ONNX model.
std::shared_ptr<const Model> read_model(const std::string& path);

// A file that is one TensorProto, as ONNX keeps inputs and outputs of tests.
struct TensorFile {
  std::shared_ptr<const MappedFile> file;
  TensorData tensor;
};
TensorFile read_tensor(const std::string& path);

// The values of a tensor, with `model` for what lies in files beside it (null: none may). The bytes are checked against
// the shape.
LiteralRef literal_of(const TensorData& tensor, const Model* model);

// The same bytes as they lie in the mapped file, without a copy; empty when they lie otherwise than a literal has them.
std::span<const std::byte> mapped_bytes(const TensorData& tensor, const Model& model);

// The type, checked: no negative dimension, no more elements than can be addressed.
TensorType type_of(const TensorData& tensor);

}  // namespace ingot::onnx
