#include "aot/frontend/onnx/export_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <set>

#include "aot/base/error.h"
#include "aot/base/join.h"
#include "aot/frontend/onnx/model.h"
#include "aot/frontend/onnx/read_model.h"

namespace ingot::onnx {
namespace {

using protozero::data_view;
using protozero::pbf_reader;
using protozero::pbf_writer;

// Fields of onnx.proto's messages.
constexpr protozero::pbf_tag_type kModelGraph = 7, kGraphInitializer = 5, kTensorRaw = 9;

constexpr size_t kMostBytes = (size_t{1} << 31) - 1;  // of a protobuf message

// TensorProto: what says where and how the values lie.
bool holds_values(protozero::pbf_tag_type tag) {
  constexpr protozero::pbf_tag_type kValues[] = {4, 5, 6, 7, kTensorRaw, 10, 11, 13, 14};
  return std::ranges::find(kValues, tag) != std::end(kValues);
}

// The field at which the reader stands, as it is.
void copy_field(pbf_reader& reader, pbf_writer& writer) {
  const auto tag = reader.tag();
  switch (reader.wire_type()) {
    case protozero::pbf_wire_type::varint:
      return writer.add_uint64(tag, reader.get_uint64());
    case protozero::pbf_wire_type::fixed64:
      return writer.add_fixed64(tag, reader.get_fixed64());
    case protozero::pbf_wire_type::fixed32:
      return writer.add_fixed32(tag, reader.get_fixed32());
    default:
      return writer.add_bytes(tag, reader.get_view());
  }
}

class WeightExporter {
 public:
  WeightExporter(const Model& model, const std::map<std::string, SafeTensor>& values)
      : model_(model), values_(values) {}

  std::string run() {
    std::string bytes;
    pbf_writer writer(bytes);
    const std::string_view file = model_.file->bytes();
    for (pbf_reader reader(file.data(), file.size()); reader.next();) {
      if (reader.tag() == kModelGraph) {
        writer.add_message(kModelGraph, graph(reader.get_message()));
      } else {
        copy_field(reader, writer);
      }
    }
    return bytes;
  }

  std::set<std::string> replaced;

 private:
  std::string graph(pbf_reader reader) {
    std::string bytes;
    pbf_writer writer(bytes);
    size_t index = 0;
    while (reader.next()) {
      if (reader.tag() == kGraphInitializer) {
        writer.add_message(kGraphInitializer, initializer(reader.get_view(), model_.graph.initializers.at(index++)));
      } else {
        copy_field(reader, writer);
      }
    }
    return bytes;
  }

  std::string initializer(const data_view& message, const TensorData& tensor) {
    const auto value = values_.find(std::string(tensor.name));
    const bool is_replaced = value != values_.end();
    if (!is_replaced && !tensor.is_external) return std::string(message);
    if (is_replaced) {
      check(tensor, value->second);
      replaced.insert(value->first);
    }
    std::vector<std::byte> moved;  // from another file
    if (!is_replaced) moved = literal_of(tensor, &model_)->dense_bytes();
    const std::span<const std::byte> raw = is_replaced ? value->second.data : moved;
    std::string bytes;
    pbf_writer writer(bytes);
    for (pbf_reader reader(message); reader.next();) {
      if (holds_values(reader.tag())) {
        reader.skip();
      } else {
        copy_field(reader, writer);
      }
    }
    writer.add_bytes(kTensorRaw, data_view(reinterpret_cast<const char*>(raw.data()), raw.size()));
    return bytes;
  }

  static void check(const TensorData& tensor, const SafeTensor& value) {
    const TensorType type = type_of(tensor);
    if (info(type.dtype).safetensors == value.dtype && type.shape == value.shape) return;
    throw_error(nullptr, fmt::format("the model's '{}' is {}, the value for it {}[{}]", tensor.name, to_string(type),
                                     value.dtype, join(value.shape, ",")));
  }

  const Model& model_;
  const std::map<std::string, SafeTensor>& values_;
};

}  // namespace

Exported export_weights(const std::string& path, const std::map<std::string, SafeTensor>& values) {
  const std::shared_ptr<const Model> model = read_model(path);
  WeightExporter exporter(*model, values);
  Exported exported;
  exported.model = exporter.run();
  if (exported.model.size() > kMostBytes) {
    throw_limit(nullptr, fmt::format("{}: with all weights in it the model has {} bytes; a protobuf file has 2 GiB at "
                                     "most",
                                     path, exported.model.size()));
  }
  exported.replaced.assign(exporter.replaced.begin(), exporter.replaced.end());
  for (const auto& [name, value] : values) {
    if (!exporter.replaced.contains(name)) exported.unused.push_back(name);
  }
  return exported;
}

}  // namespace ingot::onnx
