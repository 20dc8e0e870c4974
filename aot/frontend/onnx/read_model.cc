#include "aot/frontend/onnx/read_model.h"

#include <fmt/format.h>

#include <protozero/pbf_reader.hpp>

#include "aot/base/error.h"

namespace ingot::onnx {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

constexpr int kReadDepthMax = 32;  // of graphs in nodes in graphs, and of types in types

std::string_view view(pbf_reader& reader) {
  const auto data = reader.get_view();
  return {data.data(), data.size()};
}

// Repeated numbers are written one by one or packed; both are read.
void add_ints(pbf_reader& reader, std::vector<int64_t>& to) {
  if (reader.wire_type() != pbf_wire_type::length_delimited) return to.push_back(reader.get_int64());
  for (const int64_t value : reader.get_packed_int64()) to.push_back(value);
}

void add_floats(pbf_reader& reader, std::vector<float>& to) {
  if (reader.wire_type() != pbf_wire_type::length_delimited) return to.push_back(reader.get_float());
  for (const float value : reader.get_packed_float()) to.push_back(value);
}

void add_doubles(pbf_reader& reader, std::vector<double>& to) {
  if (reader.wire_type() != pbf_wire_type::length_delimited) return to.push_back(reader.get_double());
  for (const double value : reader.get_packed_double()) to.push_back(value);
}

KeyValue read_key_value(pbf_reader reader) {
  KeyValue pair;
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        pair.key = view(reader);
        break;
      case 2:
        pair.value = view(reader);
        break;
      default:
        reader.skip();
    }
  }
  return pair;
}

// What PyTorch's exporter says of a node: ['', 'layers.0', 'layers.0.q_proj', 'linear'], of which the last is its own name.
constexpr std::string_view kScopes = "pkg.torch.onnx.name_scopes";

std::string_view last_but_one(std::string_view names) {
  const size_t end = names.rfind("', '");
  const size_t begin = end == names.npos || end == 0 ? names.npos : names.rfind('\'', end - 1);
  return begin == names.npos ? std::string_view() : names.substr(begin + 1, end - begin - 1);
}

TensorData read_tensor_data(pbf_reader reader) {
  TensorData tensor;
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        add_ints(reader, tensor.dims);
        break;
      case 2:
        tensor.data_type = reader.get_int64();
        break;
      case 4:
        add_floats(reader, tensor.floats);
        break;
      case 5:
      case 7:
      case 11:
        add_ints(reader, tensor.ints);
        break;
      case 6:
        tensor.strings.push_back(view(reader));
        break;
      case 8:
        tensor.name = view(reader);
        break;
      case 9:
        tensor.raw = view(reader);
        tensor.has_raw = true;
        break;
      case 10:
        add_doubles(reader, tensor.doubles);
        break;
      case 13:
        tensor.external.push_back(read_key_value(reader.get_message()));
        break;
      case 14:
        tensor.is_external = reader.get_int64() == 1;
        break;
      default:
        reader.skip();
    }
  }
  return tensor;
}

Dimension read_dimension(pbf_reader reader) {
  Dimension dimension;
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        dimension.size = reader.get_int64();
        break;
      case 2:
        dimension.name = view(reader);
        break;
      default:
        reader.skip();
    }
  }
  return dimension;
}

void read_tensor_type(pbf_reader reader, TypeInfo& type) {
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        type.data_type = reader.get_int64();
        break;
      case 2: {
        type.has_shape = true;
        for (pbf_reader shape = reader.get_message(); shape.next();) {
          if (shape.tag() == 1) {
            type.dims.push_back(read_dimension(shape.get_message()));
          } else {
            shape.skip();
          }
        }
        break;
      }
      default:
        reader.skip();
    }
  }
}

// Reads what may nest, and knows how deep it is.
class ModelReader {
 public:
  TypeInfo type(pbf_reader reader) {
    const Deeper deeper(*this);
    TypeInfo type;
    while (reader.next()) {
      switch (reader.tag()) {
        case 1:
          type.kind = TypeInfo::Kind::kTensor;
          read_tensor_type(reader.get_message(), type);
          break;
        case 4:
          type.kind = TypeInfo::Kind::kSequence;
          type.element = element(reader.get_message());
          break;
        case 9:
          type.kind = TypeInfo::Kind::kOptional;
          type.element = element(reader.get_message());
          break;
        case 5:
        case 7:
        case 8:
          type.kind = TypeInfo::Kind::kOther;
          reader.skip();
          break;
        default:
          reader.skip();
      }
    }
    return type;
  }

  ValueInfo value_info(pbf_reader reader) {
    ValueInfo info;
    while (reader.next()) {
      switch (reader.tag()) {
        case 1:
          info.name = view(reader);
          break;
        case 2:
          info.type = type(reader.get_message());
          break;
        default:
          reader.skip();
      }
    }
    return info;
  }

  Attribute attribute(pbf_reader reader) {
    Attribute a;
    while (reader.next()) {
      switch (reader.tag()) {
        case 1:
          a.name = view(reader);
          break;
        case 2:
          a.f = reader.get_float();
          break;
        case 3:
          a.i = reader.get_int64();
          break;
        case 4:
          a.s = view(reader);
          break;
        case 5:
          a.tensor = std::make_shared<TensorData>(read_tensor_data(reader.get_message()));
          break;
        case 6:
          a.graph = std::make_shared<Graph>(graph(reader.get_message()));
          break;
        case 7:
          add_floats(reader, a.floats);
          break;
        case 8:
          add_ints(reader, a.ints);
          break;
        case 9:
          a.strings.push_back(view(reader));
          break;
        case 14:
          a.type_info = std::make_shared<TypeInfo>(type(reader.get_message()));
          break;
        case 20:
          a.type = reader.get_int64();
          break;
        case 21:
          a.reference = view(reader);
          break;
        case 22:
          a.is_sparse = true;
          reader.skip();
          break;
        default:
          reader.skip();
      }
    }
    return a;
  }

  Node node(pbf_reader reader) {
    Node n;
    while (reader.next()) {
      switch (reader.tag()) {
        case 1:
          n.inputs.push_back(view(reader));
          break;
        case 2:
          n.outputs.push_back(view(reader));
          break;
        case 3:
          n.name = view(reader);
          break;
        case 4:
          n.op = view(reader);
          break;
        case 5:
          n.attributes.push_back(attribute(reader.get_message()));
          break;
        case 7:
          n.domain = short_domain(view(reader));
          break;
        case 8:
          n.overload = view(reader);
          break;
        case 9:
          if (const KeyValue pair = read_key_value(reader.get_message()); pair.key == kScopes) {
            n.module = last_but_one(pair.value);
          }
          break;
        default:
          reader.skip();
      }
    }
    return n;
  }

  Graph graph(pbf_reader reader) {
    const Deeper deeper(*this);
    Graph g;
    while (reader.next()) {
      switch (reader.tag()) {
        case 1:
          g.nodes.push_back(node(reader.get_message()));
          break;
        case 2:
          g.name = view(reader);
          break;
        case 5:
          g.initializers.push_back(read_tensor_data(reader.get_message()));
          break;
        case 11:
          g.inputs.push_back(value_info(reader.get_message()));
          break;
        case 12:
          g.outputs.push_back(value_info(reader.get_message()));
          break;
        case 15:
          g.has_sparse_initializers = true;
          reader.skip();
          break;
        default:
          reader.skip();
      }
    }
    return g;
  }

  LocalFunction function(pbf_reader reader) {
    LocalFunction f;
    while (reader.next()) {
      switch (reader.tag()) {
        case 1:
          f.name = view(reader);
          break;
        case 4:
          f.inputs.push_back(view(reader));
          break;
        case 5:
          f.outputs.push_back(view(reader));
          break;
        case 6:
          f.attributes.push_back(view(reader));
          break;
        case 7:
          f.nodes.push_back(node(reader.get_message()));
          break;
        case 9:
          f.opsets.push_back(opset(reader.get_message()));
          break;
        case 10:
          f.domain = short_domain(view(reader));
          break;
        case 11:
          f.defaults.push_back(attribute(reader.get_message()));
          break;
        case 13:
          f.overload = view(reader);
          break;
        default:
          reader.skip();
      }
    }
    return f;
  }

  static OpsetImport opset(pbf_reader reader) {
    OpsetImport import;
    while (reader.next()) {
      switch (reader.tag()) {
        case 1:
          import.domain = short_domain(view(reader));
          break;
        case 2:
          import.version = reader.get_int64();
          break;
        default:
          reader.skip();
      }
    }
    return import;
  }

  void model(pbf_reader reader, Model& m) {
    bool has_graph = false;
    while (reader.next()) {
      switch (reader.tag()) {
        case 1:
          m.ir_version = reader.get_int64();
          break;
        case 7:
          m.graph = graph(reader.get_message());
          has_graph = true;
          break;
        case 8:
          m.opsets.push_back(opset(reader.get_message()));
          break;
        case 20:
          m.has_training = true;
          reader.skip();
          break;
        case 25:
          m.functions.push_back(function(reader.get_message()));
          break;
        default:
          reader.skip();
      }
    }
    if (!has_graph) throw_error(nullptr, "it has no graph");
  }

 private:
  struct Deeper {
    explicit Deeper(ModelReader& reader) : reader(reader) {
      if (++reader.depth_ > kReadDepthMax) {
        throw_limit(nullptr, fmt::format("its graphs or types nest deeper than {}", kReadDepthMax));
      }
    }
    ~Deeper() { --reader.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    ModelReader& reader;
  };

  // SequenceProto and OptionalProto: the type of the elements.
  std::shared_ptr<TypeInfo> element(pbf_reader reader) {
    auto found = std::make_shared<TypeInfo>();
    while (reader.next()) {
      if (reader.tag() == 1) {
        *found = type(reader.get_message());
      } else {
        reader.skip();
      }
    }
    return found;
  }

  int depth_ = 0;
};

// Runs `read`, whose mistakes name the path.
template <typename Read>
void read_named(const std::string& path, std::string_view kind, const Read& read) {
  try {
    read();
  } catch (const protozero::exception&) {
    throw_error(nullptr, fmt::format("{}: is no {}, or is cut off: its protocol buffers break", path, kind));
  } catch (const Error& error) {
    throw Error(error.kind(), error.location(),
                fmt::format("{}: is no {} that can be read: {}", path, kind, error.message()));
  }
}

}  // namespace

std::shared_ptr<const Model> read_model(const std::string& path) {
  auto model = std::make_shared<Model>();
  model->path = path;
  model->file = std::make_shared<MappedFile>(path);
  const std::string_view bytes = model->file->bytes();
  read_named(path, "ONNX model", [&] { ModelReader().model(pbf_reader(bytes.data(), bytes.size()), *model); });
  return model;
}

TensorFile read_tensor(const std::string& path) {
  TensorFile file{std::make_shared<MappedFile>(path), {}};
  const std::string_view bytes = file.file->bytes();
  read_named(path, "tensor of ONNX", [&] { file.tensor = read_tensor_data(pbf_reader(bytes.data(), bytes.size())); });
  return file;
}

}  // namespace ingot::onnx
