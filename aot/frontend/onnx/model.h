// An ONNX model as its file says it: the messages of onnx.proto (IR versions 3 to 13) that say what is computed.
// Text and bytes are views into the file, which `Model` keeps mapped.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aot/graph/literal.h"

namespace ingot::onnx {

// A file that is mapped into memory, read only.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);  // throws an Error with the path and the system's reason
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {data_, bytes_}; }

 private:
  const char* data_ = nullptr;
  size_t bytes_ = 0;
};

struct KeyValue {
  std::string_view key, value;
};

// TensorProto: its values lie in `raw`, in one of the lists, or in another file.
struct TensorData {
  std::string_view name;
  int64_t data_type = 0;
  Shape dims;
  std::string_view raw;
  bool has_raw = false;
  std::vector<float> floats;    // also the parts of complex64
  std::vector<double> doubles;  // also the parts of complex128
  std::vector<int64_t> ints;    // int32_data, int64_data, uint64_data
  std::vector<std::string_view> strings;
  std::vector<KeyValue> external;
  bool is_external = false;
};

struct Dimension {
  int64_t size = kUnknownDim;
  std::string_view name;  // of an unknown one; may be empty
};

struct TypeInfo {
  enum class Kind : uint8_t { kNone, kTensor, kSequence, kOptional, kOther };
  Kind kind = Kind::kNone;
  int64_t data_type = 0;
  bool has_shape = false;
  std::vector<Dimension> dims;
  std::shared_ptr<TypeInfo> element;  // of a sequence or an optional
};

struct ValueInfo {
  std::string_view name;
  TypeInfo type;
};

struct Graph;

struct Attribute {
  std::string_view name, reference;  // `reference`: the attribute of the function around it whose value this one has
  int64_t type = 0;
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  std::shared_ptr<const TensorData> tensor;
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const TypeInfo> type_info;
  bool is_sparse = false;
};

struct Node {
  std::string_view name, op, domain, overload;
  std::string_view module;  // of the network that PyTorch exported, from which the node comes: "layers.0.q_proj"
  std::vector<std::string_view> inputs, outputs;
  std::vector<Attribute> attributes;

  const Attribute* find(std::string_view attribute) const;  // null when there is none
};

struct Graph {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<TensorData> initializers;
  std::vector<ValueInfo> inputs, outputs;
  bool has_sparse_initializers = false;
};

struct OpsetImport {
  std::string_view domain;
  int64_t version = 1;
};

struct LocalFunction {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<std::string_view> attributes;  // those without a default
  std::vector<Attribute> defaults;
  std::vector<Node> nodes;
  std::vector<OpsetImport> opsets;

  bool has_attribute(std::string_view attribute) const;
};

struct Model {
  std::string path;
  std::shared_ptr<const MappedFile> file;
  int64_t ir_version = 0;
  std::vector<OpsetImport> opsets;
  Graph graph;
  std::vector<LocalFunction> functions;
  bool has_training = false;

  // A file of the model's folder, mapped once.
  const MappedFile& external_file(const std::string& name) const;
  mutable std::map<std::string, std::unique_ptr<const MappedFile>> external_files;
};

// ai.onnx is the name of the domain that is mostly written "".
std::string_view short_domain(std::string_view domain);

// The element type that TensorProto.DataType `data_type` is. Throws for strings and unknown ones, of `what`.
DType dtype_of(int64_t data_type, std::string_view what);

}  // namespace ingot::onnx
