#include "aot/frontend/onnx/graph_importer.h"

#include <fmt/format.h>

#include "aot/base/error.h"
#include "aot/frontend/onnx/op_table.h"
#include "aot/frontend/onnx/read_model.h"

namespace ingot::onnx {
namespace {

constexpr int kInlineDepthMax = 64;  // of functions that call functions, and of graphs in nodes

// How many nodes may come from functions, for each node that the file has: more would be an attack.
constexpr int64_t kInlinedMax = 1 << 10, kNodesAlways = 1 << 16;
constexpr int64_t kInputElementsMax = int64_t{1} << 40;

int64_t node_count(const std::vector<Node>& nodes) { return static_cast<int64_t>(nodes.size()); }

int64_t nodes_allowed(const Model& model) {
  int64_t count = node_count(model.graph.nodes);
  for (const LocalFunction& function : model.functions) count += node_count(function.nodes);
  return kNodesAlways + kInlinedMax * count;
}

// Numbers that a program computes with are constants; what it learnt is state: floats and narrow integers, unless they
// are a single number.
bool is_weight(const TensorType& type) {
  return type.rank() > 0 && (is_float(type.dtype) || (is_integer(type.dtype) && info(type.dtype).bits <= 8));
}

std::string title(const Node& node) {
  const std::string_view name = !node.name.empty() || node.outputs.empty() ? node.name : node.outputs[0];
  return fmt::format("{}{}{} '{}'", node.domain, node.domain.empty() ? "" : ".", node.op, name);
}

// A tensor that no machine holds would be counted wrong later.
void check_size(const Node& node, const Item& item) {
  int64_t elements = 1;
  for (const int64_t size : item.value ? item.value->type.shape : Shape()) {
    if (__builtin_mul_overflow(elements, std::max<int64_t>(size, 1), &elements) || elements > kInputElementsMax) {
      throw_limit(nullptr,
                  fmt::format("{} makes {}: more than 2^40 elements", title(node), to_string(item.value->type)));
    }
  }
}

}  // namespace

const LocalFunction* find_function(const Model& model, const Node& node) {
  for (const LocalFunction& function : model.functions) {
    if (function.name == node.op && function.domain == node.domain && function.overload == node.overload)
      return &function;
  }
  return nullptr;
}

int64_t opset_version(const std::vector<OpsetImport>& opsets, const std::vector<OpsetImport>& otherwise,
                      std::string_view domain) {
  for (const auto* list : {&opsets, &otherwise}) {
    for (const OpsetImport& import : *list) {
      if (import.domain == domain) return import.version;
    }
  }
  return 0;
}

GraphImporter::GraphImporter(const Model& model, Function& function)
    : model_(model),
      function_(function),
      known_([this](const Value* value) {
        const auto found = weights_.find(value);
        return found == weights_.end() ? nullptr : literal_of(*found->second, &model_);
      }),
      nodes_left_(nodes_allowed(model)) {
  b_.at_end(function.body);
}

int64_t GraphImporter::opset_of(std::string_view domain) const {
  return opset_version(*scope_->opsets, model_.opsets, domain);
}

const Attribute* GraphImporter::attribute(const Node& node, std::string_view name) const {
  const Attribute* found = node.find(name);
  if (!found || found->reference.empty()) return found;
  const auto given = scope_->attributes.find(found->reference);
  return given == scope_->attributes.end() ? nullptr : given->second;
}

void GraphImporter::enter() {
  if (++depth_ <= kInlineDepthMax) return;
  throw_limit(b_.location, fmt::format("functions and graphs nest deeper than {}", kInlineDepthMax));
}

std::vector<Item> GraphImporter::run_model(const std::vector<Item>& inputs) {
  Scope scope;
  scope.opsets = &model_.opsets;
  const Entered entered(*this, scope);
  const Graph& graph = model_.graph;
  add_initializers(graph);
  size_t next = 0;
  for (const ValueInfo& input : graph.inputs) {
    if (!scope.initializers.contains(input.name)) define(input.name, inputs.at(next++));
  }
  for (const Node& node : graph.nodes) run_node(node);
  return outputs_of(graph);
}

std::vector<Item> GraphImporter::run_inner(const Graph& graph, const std::vector<Item>& inputs) {
  if (graph.inputs.size() != inputs.size()) {
    throw_error(b_.location,
                fmt::format("its graph '{}' has {} inputs, not {}", graph.name, graph.inputs.size(), inputs.size()));
  }
  Scope scope;
  scope.outer = scope_;
  scope.opsets = scope_->opsets;
  scope.attributes = scope_->attributes;
  const Entered entered(*this, scope);
  add_initializers(graph);
  for (size_t i = 0; i < inputs.size(); ++i) define(graph.inputs[i].name, inputs[i]);
  for (const Node& node : graph.nodes) run_node(node);
  return outputs_of(graph);
}

std::unique_ptr<Block> GraphImporter::region(const std::vector<TensorType>& arguments,
                                             const std::function<Values(const Values&)>& body) {
  auto block = std::make_unique<Block>();
  Values values;
  for (const TensorType& type : arguments) values.push_back(block->add_argument(type));
  Block* outer = b_.block();
  const Location location = b_.location;
  b_.at_end(*block);
  try {
    const Values results = body(values);
    b_.location = location;
    b_.create(kStablehloReturn, results);
  } catch (const Error&) {
    b_.location = location;
    b_.at_end(*outer);
    keep(std::move(block));
    throw;
  }
  b_.at_end(*outer);
  return block;
}

void GraphImporter::add_initializers(const Graph& graph) {
  if (graph.has_sparse_initializers) {
    throw_limit(nullptr, fmt::format("the graph '{}' has sparse initializers; make them dense", graph.name));
  }
  for (const TensorData& tensor : graph.initializers) {
    if (!scope_->initializers.emplace(tensor.name, &tensor).second) {
      throw_error(nullptr, fmt::format("there are two initializers '{}'", tensor.name));
    }
  }
}

std::vector<Item> GraphImporter::outputs_of(const Graph& graph) {
  std::vector<Item> outputs;
  for (const ValueInfo& output : graph.outputs) outputs.push_back(find(output.name));
  return outputs;
}

void GraphImporter::run_node(const Node& node) {
  if (--nodes_left_ < 0) throw_limit(nullptr, "its functions call each other too often");
  const Location outer = b_.location;
  const Location part = node.module.empty() ? outer : named_location(std::string(node.module), outer);
  b_.location =
      named_location(std::string(!node.name.empty() || node.outputs.empty() ? node.name : node.outputs[0]), part);
  std::vector<Item> inputs;
  for (const std::string_view name : node.inputs) inputs.push_back(name.empty() ? Item() : find(name));
  const Items outputs = lower(node, std::move(inputs));
  for (const Item& output : outputs) check_size(node, output);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    if (i >= outputs.size()) {
      throw_limit(b_.location, fmt::format("{}: its output {} is not supported", title(node), i));
    }
    define(node.outputs[i], outputs[i]);
  }
  b_.location = outer;
}

Items GraphImporter::lower(const Node& node, std::vector<Item> inputs) {
  if (const LocalFunction* function = find_function(model_, node)) return inline_function(*function, node, inputs);
  const int64_t version = opset_of(node.domain);
  const OpRow* row = find_op(node.domain, node.op, version);
  if (!row) throw_limit(b_.location, fmt::format("{}: is not supported in opset {}", title(node), version));
  try {
    NodeArgs args(*this, b_, node, version, std::move(inputs));
    args.check_inputs(row->inputs_min, row->inputs_max);
    args.check_attributes();
    Items outputs = row->lower(args);
    args.check_all_read();
    return outputs;
  } catch (const Error& error) {
    if (error.message().find(" (opset ") != std::string::npos) throw;
    throw Error(error.kind(), b_.location, fmt::format("{} (opset {}): {}", title(node), version, error.message()));
  }
}

Items GraphImporter::inline_function(const LocalFunction& function, const Node& node, const std::vector<Item>& inputs) {
  Scope scope;
  scope.opsets = &function.opsets;
  for (const Attribute& a : function.defaults) scope.attributes.insert_or_assign(a.name, &a);
  for (const Attribute& a : node.attributes) {
    if (!function.has_attribute(a.name)) {
      throw_error(b_.location, fmt::format("{}: it has the attribute {}, which the model's function does not have",
                                           title(node), a.name));
    }
    if (const Attribute* given = attribute(node, a.name)) scope.attributes.insert_or_assign(a.name, given);
  }
  if (inputs.size() > function.inputs.size()) {
    throw_error(b_.location, fmt::format("{}: it has {} inputs, and the model's function takes {}", title(node),
                                         inputs.size(), function.inputs.size()));
  }
  const Entered entered(*this, scope);
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    define(function.inputs[i], i < inputs.size() ? inputs[i] : Item());
  }
  for (const Node& inner : function.nodes) run_node(inner);
  Items outputs;
  for (const std::string_view name : function.outputs) outputs.push_back(find(name));
  return outputs;
}

void GraphImporter::define(std::string_view name, Item item) {
  if (!scope_->values.emplace(name, std::move(item)).second) {
    throw_error(b_.location, fmt::format("'{}' is defined twice", name));
  }
}

Item GraphImporter::find(std::string_view name) {
  for (const Scope* scope = scope_; scope; scope = scope->outer) {
    if (const auto found = scope->values.find(name); found != scope->values.end()) return found->second;
    if (const auto found = scope->initializers.find(name); found != scope->initializers.end()) {
      return read_initializer(*found->second);
    }
  }
  throw_error(b_.location, fmt::format("there is no '{}'; nodes must stand after those whose results they read", name));
}

// Constants stand in the function's own body, where every region sees them.
Item GraphImporter::read_initializer(const TensorData& tensor) {
  const auto [at, is_new] = initializers_.try_emplace(&tensor);
  if (!is_new) return at->second;
  const TensorType type = type_of(tensor);
  if (is_weight(type)) {
    at->second = function_.body.add_argument(type, "", named_location(std::string(tensor.name)));
    weights_.emplace(at->second.value, &tensor);
  } else {
    GraphBuilder b;
    b.location = b_.location;
    b.at_end(function_.body);
    at->second = ops::constant(b, literal_of(tensor, &model_));
  }
  return at->second;
}

}  // namespace ingot::onnx
