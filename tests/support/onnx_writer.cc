#include "tests/support/onnx_writer.h"

#include <cstring>
#include <functional>
#include <protozero/pbf_writer.hpp>

namespace ingot {
namespace {

using protozero::pbf_writer;

template <typename T>
std::string raw_bytes(const std::vector<T>& values) {
  std::string raw(values.size() * sizeof(T), '\0');
  if (!raw.empty()) std::memcpy(raw.data(), values.data(), raw.size());
  return raw;
}

// `write` fills a message.
template <typename Write>
std::string message(const Write& write) {
  std::string bytes;
  pbf_writer writer(bytes);
  write(writer);
  return bytes;
}

std::string value_info(const std::string& name, int64_t data_type, const std::vector<int64_t>& dims) {
  const std::string shape = message([&](pbf_writer& w) {
    for (const int64_t dim : dims) {
      w.add_message(1, message([&](pbf_writer& d) {
                      if (dim < 0) {
                        d.add_string(2, "batch");
                      } else {
                        d.add_int64(1, dim);
                      }
                    }));
    }
  });
  const std::string tensor = message([&](pbf_writer& w) {
    w.add_int64(1, data_type);
    w.add_message(2, shape);
  });
  return message([&](pbf_writer& w) {
    w.add_string(1, name);
    w.add_message(2, message([&](pbf_writer& t) { t.add_message(1, tensor); }));
  });
}

std::string attribute(const std::string& name, int64_t type, const std::function<void(pbf_writer&)>& write) {
  return message([&](pbf_writer& w) {
    w.add_string(1, name);
    write(w);
    w.add_int64(20, type);
  });
}

}  // namespace

std::string onnx_integer(const std::string& name, int64_t value) {
  return attribute(name, 2, [&](pbf_writer& w) { w.add_int64(3, value); });
}

std::string onnx_float(const std::string& name, float value) {
  return attribute(name, 1, [&](pbf_writer& w) { w.add_float(2, value); });
}

std::string onnx_text(const std::string& name, const std::string& value) {
  return attribute(name, 3, [&](pbf_writer& w) { w.add_string(4, value); });
}

std::string onnx_integers(const std::string& name, const std::vector<int64_t>& values) {
  return attribute(name, 7, [&](pbf_writer& w) {
    for (const int64_t value : values) w.add_int64(8, value);
  });
}

std::string onnx_floats(const std::string& name, const std::vector<float>& values) {
  return attribute(name, 6, [&](pbf_writer& w) {
    for (const float value : values) w.add_float(7, value);
  });
}

std::string onnx_texts(const std::string& name, const std::vector<std::string>& values) {
  return attribute(name, 8, [&](pbf_writer& w) {
    for (const std::string& value : values) w.add_string(9, value);
  });
}

std::string onnx_reference(const std::string& name, const std::string& of, int64_t type) {
  return attribute(name, type, [&](pbf_writer& w) { w.add_string(21, of); });
}

std::string onnx_graph(const std::string& name, const OnnxGraph& graph) {
  return attribute(name, 5, [&](pbf_writer& w) { w.add_message(6, graph.bytes()); });
}

std::string onnx_tensor_value(const std::string& name, const std::string& tensor) {
  return attribute(name, 4, [&](pbf_writer& w) { w.add_message(5, tensor); });
}

std::string raw_floats(const std::vector<float>& values) { return raw_bytes(values); }
std::string raw_doubles(const std::vector<double>& values) { return raw_bytes(values); }

std::string onnx_tensor(const std::string& name, int64_t data_type, const std::vector<int64_t>& dims,
                        const std::string& raw) {
  return message([&](pbf_writer& w) {
    for (const int64_t dim : dims) w.add_int64(1, dim);
    w.add_int64(2, data_type);
    w.add_string(8, name);
    w.add_bytes(9, raw);
  });
}

std::string onnx_external(const std::string& name, int64_t data_type, const std::vector<int64_t>& dims,
                          const std::vector<std::pair<std::string, std::string>>& where) {
  return message([&](pbf_writer& w) {
    for (const int64_t dim : dims) w.add_int64(1, dim);
    w.add_int64(2, data_type);
    w.add_string(8, name);
    for (const auto& [key, value] : where) {
      w.add_message(13, message([&](pbf_writer& entry) {
                      entry.add_string(1, key);
                      entry.add_string(2, value);
                    }));
    }
    w.add_int64(14, 1);
  });
}

std::string onnx_node(const std::string& op, const OnnxNames& inputs, const OnnxNames& outputs,
                      const std::vector<std::string>& attributes, const std::string& domain,
                      const std::string& scopes) {
  return message([&](pbf_writer& w) {
    for (const std::string& input : inputs) w.add_string(1, input);
    for (const std::string& output : outputs) w.add_string(2, output);
    w.add_string(3, op + "_node");
    w.add_string(4, op);
    for (const std::string& each : attributes) w.add_message(5, each);
    if (!domain.empty()) w.add_string(7, domain);
    if (scopes.empty()) return;
    w.add_message(9, message([&](pbf_writer& pair) {
                    pair.add_string(1, "pkg.torch.onnx.name_scopes");
                    pair.add_string(2, scopes);
                  }));
  });
}

void OnnxGraph::input(const std::string& name, int64_t data_type, const std::vector<int64_t>& dims) {
  pbf_writer(bytes_).add_message(11, value_info(name, data_type, dims));
}

void OnnxGraph::output(const std::string& name, int64_t data_type, const std::vector<int64_t>& dims) {
  pbf_writer(bytes_).add_message(12, value_info(name, data_type, dims));
}

void OnnxGraph::node(const std::string& op, const OnnxNames& inputs, const OnnxNames& outputs,
                     const std::vector<std::string>& attributes, const std::string& domain, const std::string& scopes) {
  pbf_writer(bytes_).add_message(1, onnx_node(op, inputs, outputs, attributes, domain, scopes));
}

void OnnxGraph::floats(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& values) {
  tensor(onnx_tensor(name, 1, dims, raw_bytes(values)));
}

void OnnxGraph::integers(const std::string& name, const std::vector<int64_t>& dims,
                         const std::vector<int64_t>& values) {
  tensor(onnx_tensor(name, 7, dims, raw_bytes(values)));
}

void OnnxGraph::tensor(const std::string& message) { pbf_writer(bytes_).add_message(5, message); }

std::string onnx_function(const std::string& domain, const std::string& name, const OnnxNames& inputs,
                          const OnnxNames& outputs, const OnnxNames& attributes, const std::string& node) {
  return message([&](pbf_writer& w) {
    w.add_string(1, name);
    for (const std::string& input : inputs) w.add_string(4, input);
    for (const std::string& output : outputs) w.add_string(5, output);
    for (const std::string& each : attributes) w.add_string(6, each);
    w.add_message(7, node);
    w.add_string(10, domain);
  });
}

std::string onnx_model(const OnnxGraph& graph, int64_t opset, const std::vector<std::string>& functions) {
  return message([&](pbf_writer& w) {
    w.add_int64(1, 9);
    w.add_message(7, graph.bytes());
    w.add_message(8, message([&](pbf_writer& import) { import.add_int64(2, opset); }));
    constexpr std::pair<const char*, int64_t> domains[] = {{"local", 1}, {"com.microsoft", 1}, {"ai.onnx.ml", 3}};
    for (const auto& [domain, version] : domains) {
      w.add_message(8, message([&](pbf_writer& import) {
                      import.add_string(1, domain);
                      import.add_int64(2, version);
                    }));
    }
    for (const std::string& function : functions) w.add_message(25, function);
  });
}

}  // namespace ingot
