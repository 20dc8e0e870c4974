// Writes small ONNX models: the bytes of messages, built from the inside out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ingot {

using OnnxNames = std::vector<std::string>;

inline constexpr int64_t kF32 = 1, kI64 = 7, kString = 8, kF64 = 11;  // TensorProto.DataType

// AttributeProto messages.
std::string onnx_integer(const std::string& name, int64_t value);
std::string onnx_float(const std::string& name, float value);
std::string onnx_text(const std::string& name, const std::string& value);
std::string onnx_integers(const std::string& name, const std::vector<int64_t>& values);
std::string onnx_floats(const std::string& name, const std::vector<float>& values);
std::string onnx_texts(const std::string& name, const std::vector<std::string>& values);
std::string onnx_reference(const std::string& name, const std::string& of, int64_t type);

// TensorProto messages, by TensorProto.DataType.
std::string onnx_tensor(const std::string& name, int64_t data_type, const std::vector<int64_t>& dims,
                        const std::string& raw);
std::string onnx_external(const std::string& name, int64_t data_type, const std::vector<int64_t>& dims,
                          const std::vector<std::pair<std::string, std::string>>& where);

std::string raw_floats(const std::vector<float>& values);  // as raw data of a tensor
std::string raw_doubles(const std::vector<double>& values);
std::string onnx_tensor_value(const std::string& name, const std::string& tensor);  // an attribute

// A NodeProto message; `scopes` is what PyTorch's exporter says of where it comes from.
std::string onnx_node(const std::string& op, const OnnxNames& inputs, const OnnxNames& outputs,
                      const std::vector<std::string>& attributes = {}, const std::string& domain = "",
                      const std::string& scopes = "");

// A GraphProto message. Dimensions below 0 are open: -1 is called "batch".
class OnnxGraph {
 public:
  void input(const std::string& name, int64_t data_type, const std::vector<int64_t>& dims);
  void output(const std::string& name, int64_t data_type, const std::vector<int64_t>& dims);
  void node(const std::string& op, const OnnxNames& inputs, const OnnxNames& outputs,
            const std::vector<std::string>& attributes = {}, const std::string& domain = "",
            const std::string& scopes = "");
  void floats(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& values);
  void integers(const std::string& name, const std::vector<int64_t>& dims, const std::vector<int64_t>& values);
  void tensor(const std::string& message);  // an initializer

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

std::string onnx_graph(const std::string& name, const OnnxGraph& graph);  // an attribute

// A FunctionProto message of one node.
std::string onnx_function(const std::string& domain, const std::string& name, const OnnxNames& inputs,
                          const OnnxNames& outputs, const OnnxNames& attributes, const std::string& node);

// A ModelProto message, of IR version 9.
std::string onnx_model(const OnnxGraph& graph, int64_t opset, const std::vector<std::string>& functions = {});

}  // namespace ingot
