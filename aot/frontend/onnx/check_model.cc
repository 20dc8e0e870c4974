#include "aot/frontend/onnx/check_model.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "aot/base/error.h"
#include "aot/frontend/onnx/graph_importer.h"
#include "aot/frontend/onnx/op_table.h"

namespace ingot::onnx {
namespace {

constexpr int64_t kOldestIr = 3, kLatestIr = 13;

void check_versions(const Model& model) {
  if (model.ir_version < kOldestIr || model.ir_version > kLatestIr) {
    throw_limit(nullptr,
                fmt::format("its IR version is {}; {} to {} are supported", model.ir_version, kOldestIr, kLatestIr));
  }
  for (const OpsetImport& opset : model.opsets) {
    if (!opset.domain.empty() || (opset.version >= kOldestOpset && opset.version <= kLatestOpset)) continue;
    throw_limit(nullptr,
                fmt::format("it is of opset {}; {} to {} are supported: onnx.version_converter.convert_version "
                            "makes one of another",
                            opset.version, kOldestOpset, kLatestOpset));
  }
}

// Every op that has no row, with the nodes that use it.
class UnsupportedOps {
 public:
  explicit UnsupportedOps(const Model& model) : model_(model) { look(model.graph.nodes, model.opsets); }

  void report() const {
    if (found_.empty()) return;
    std::string text;
    for (const auto& [op, nodes] : found_) {
      text += fmt::format("\n  {}: {} node{}, such as '{}'", op, nodes.count, nodes.count == 1 ? "" : "s", nodes.first);
    }
    throw_limit(nullptr,
                fmt::format("it uses ops that are not supported (docs/onnx_ops.md lists those that are); a function "
                            "of the model may stand for an op:{}",
                            text));
  }

 private:
  struct Nodes {
    int count = 0;
    std::string first;
  };

  void look(const std::vector<Node>& nodes, const std::vector<OpsetImport>& opsets) {
    for (const Node& node : nodes) {
      if (const LocalFunction* function = find_function(model_, node)) {
        if (seen_.insert(function).second) look(function->nodes, function->opsets);
      } else {
        look(node, opset_version(opsets, model_.opsets, node.domain));
      }
      for (const Attribute& attribute : node.attributes) {
        if (attribute.graph) look(attribute.graph->nodes, opsets);
      }
    }
  }

  void look(const Node& node, int64_t version) {
    if (find_op(node.domain, node.op, version)) return;
    const std::string name =
        fmt::format("{} of {} (opset {})", node.op, node.domain.empty() ? "ai.onnx" : node.domain, version);
    Nodes& nodes = found_[name];
    if (++nodes.count == 1) nodes.first = node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name;
  }

  const Model& model_;
  std::set<const LocalFunction*> seen_;
  std::map<std::string, Nodes> found_;
};

}  // namespace

void check_model(const Model& model) {
  check_versions(model);
  UnsupportedOps(model).report();
}

}  // namespace ingot::onnx
