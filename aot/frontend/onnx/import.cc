#include "aot/frontend/onnx/import.h"

#include <fmt/format.h>

#include "aot/base/error.h"
#include "aot/base/join.h"
#include "aot/frontend/onnx/check_model.h"
#include "aot/frontend/onnx/graph_importer.h"
#include "aot/frontend/onnx/read_model.h"

namespace ingot::onnx {
namespace {

const GivenShape* find_shape(const std::vector<GivenShape>& shapes, std::string_view name) {
  const auto found = std::ranges::find(shapes, name, &GivenShape::name);
  return found == shapes.end() || name.empty() ? nullptr : &*found;
}

Shape shape_of(const ValueInfo& input, const std::vector<GivenShape>& shapes) {
  if (const GivenShape* given = find_shape(shapes, input.name)) {
    const bool is_number = input.type.has_shape && input.type.dims.empty() && given->sizes.size() == 1;
    if (is_number) return {};
    if (input.type.has_shape && given->sizes.size() != input.type.dims.size()) {
      throw_error(nullptr, fmt::format("--shape {}={}: the input has {} dimensions", input.name,
                                       join(given->sizes, "x"), input.type.dims.size()));
    }
    return given->sizes;
  }
  if (!input.type.has_shape) {
    throw_error(nullptr,
                fmt::format("the input '{}' has no shape; give it by --shape {}=SIZExSIZE", input.name, input.name));
  }
  Shape shape;
  for (size_t d = 0; d < input.type.dims.size(); ++d) {
    const Dimension& dimension = input.type.dims[d];
    const GivenShape* given = find_shape(shapes, dimension.name);
    shape.push_back(given && !given->sizes.empty() ? given->sizes[0] : dimension.size);
    if (shape.back() >= 0) continue;
    throw_error(nullptr,
                fmt::format("dimension {} of the input '{}' is not known; give it by --shape {}", d, input.name,
                            dimension.name.empty() ? fmt::format("{}=SIZExSIZE...", input.name)
                                                   : fmt::format("{}=SIZE", dimension.name)));
  }
  return shape;
}

void note_names(const ValueInfo& input, const std::vector<GivenShape>& shapes, std::set<std::string>& given) {
  if (find_shape(shapes, input.name)) given.emplace(input.name);
  for (const Dimension& dimension : input.type.dims) {
    if (find_shape(shapes, dimension.name)) given.emplace(dimension.name);
  }
}

Attr dim_names(const ValueInfo& input, size_t rank) {
  std::vector<Attr> names(rank, Attr(""));
  for (size_t d = 0; d < std::min(rank, input.type.dims.size()); ++d) names[d] = std::string(input.type.dims[d].name);
  return Attr(std::move(names));
}

bool has_dim_names(const ValueInfo& input) {
  return std::ranges::any_of(input.type.dims, [](const Dimension& d) { return !d.name.empty(); });
}

// The inputs that are no initializers become arguments.
std::vector<Item> add_inputs(const Graph& graph, const ImportOptions& options, GraphBuilder& b, Function& function,
                             std::set<std::string>& given_names) {
  std::set<std::string_view> initialized;
  for (const TensorData& tensor : graph.initializers) initialized.insert(tensor.name);
  std::vector<Item> inputs;
  for (const ValueInfo& input : graph.inputs) {
    if (initialized.contains(input.name)) continue;
    if (const auto fixed = options.fixed.find(std::string(input.name)); fixed != options.fixed.end()) {
      inputs.push_back(ops::constant(b, fixed->second));
      continue;
    }
    if (input.type.kind != TypeInfo::Kind::kTensor) {
      throw_limit(nullptr,
                  fmt::format("the input '{}' is no tensor: sequences, maps and optionals cannot be inputs; give "
                              "their tensors as inputs of their own",
                              input.name));
    }
    const DType dtype = dtype_of(input.type.data_type, fmt::format("the input '{}'", input.name));
    const TensorType type{dtype, shape_of(input, options.shapes)};
    note_names(input, options.shapes, given_names);
    const GivenShape* given = find_shape(options.shapes, input.name);
    if (given && given->sizes.size() == 1 && input.type.dims.empty() && is_integer(dtype)) {
      inputs.push_back(ops::constant(b, splat_int({dtype, {}}, given->sizes[0])));
      continue;
    }
    if (std::ranges::any_of(type.shape, [](int64_t size) { return size > (int64_t{1} << 32); })) {
      throw_error(nullptr, fmt::format("the input '{}' is {}: no dimension may be longer than 2^32", input.name,
                                       to_string(type)));
    }
    inputs.push_back(function.body.add_argument(type, "", named_location(std::string(input.name))));
    AttrMap& attrs = function.argument_attrs.emplace_back();
    attrs.emplace(attributes::kName, std::string(input.name));
    if (has_dim_names(input)) attrs.emplace(attributes::kDims, dim_names(input, type.shape.size()));
  }
  return inputs;
}

void add_results(const Graph& graph, const std::vector<Item>& outputs, GraphBuilder& b, Function& function) {
  Values values;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].value) {
      throw_limit(nullptr,
                  fmt::format("the output '{}' is a sequence or an optional, which cannot be an output; take its "
                              "tensors out in the model",
                              graph.outputs[i].name));
    }
    values.push_back(outputs[i].value);
    function.results.push_back({values.back()->type, {{attributes::kName, std::string(graph.outputs[i].name)}}});
  }
  b.create(kFuncReturn, values);
}

// Erases what computed shapes, and the weights that nothing else read.
void drop_unused(Function& function, std::map<const Value*, const TensorData*> weights) {
  for (auto at = function.body.ops.end(); at != function.body.ops.begin();) {
    Op* op = (--at)->get();
    if (op->has_uses() || op->def->is_terminator || op->def->has_side_effect) continue;
    ++at;
    erase(op);
  }
  auto& arguments = function.body.arguments;
  for (size_t i = arguments.size(); i-- > 0;) {
    if (!arguments[i]->uses.empty() || !weights.contains(arguments[i].get())) continue;
    arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i));
    function.argument_attrs.erase(function.argument_attrs.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (int i = 0; i < function.argument_count(); ++i) function.body.argument(i)->index = i;
}

SafeTensor value_of(const TensorData& tensor, const Model& model, std::vector<LiteralRef>& copies) {
  const TensorType type = type_of(tensor);
  SafeTensor value{std::string(info(type.dtype).safetensors), type.shape, mapped_bytes(tensor, model)};
  if (value.data.empty() && type.elements() > 0) value.data = copies.emplace_back(literal_of(tensor, &model))->data;
  return value;
}

// The weights as state: names, and where their values are. Graphs within nodes may have weights of one name.
void add_weights(const GraphImporter& importer, Function& function, Imported& imported) {
  const auto& weights = importer.weights();
  function.argument_attrs.resize(function.body.arguments.size());
  drop_unused(function, weights);
  for (int i = 0; i < function.argument_count(); ++i) {
    const auto found = weights.find(function.body.argument(i));
    if (found == weights.end()) continue;
    std::string name(found->second->name);
    for (int k = 1; imported.weights.contains(name); ++k) name = fmt::format("{}_{}", found->second->name, k);
    imported.weights.emplace(name, value_of(*found->second, *imported.model, imported.copies));
    AttrMap& attrs = function.argument_attrs[i];
    attrs.emplace(attributes::kName, name);
    attrs.emplace(attributes::kState, name);
    attrs.emplace(attributes::kRole, "parameter");
  }
}

}  // namespace

Imported import_model(const std::string& path, const ImportOptions& options) {
  const std::shared_ptr<const Model> model = read_model(path);
  Imported imported{std::make_unique<Module>(), {}, model, {}, {}};
  try {
    check_model(*model);
    Function& function = *imported.module->add_function(options.entry);
    GraphImporter importer(*model, function);
    const std::vector<Item> inputs = add_inputs(model->graph, options, importer.builder(), function, imported.given);
    add_results(model->graph, importer.run_model(inputs), importer.builder(), function);
    add_weights(importer, function, imported);
  } catch (const Error& error) {
    throw Error(error.kind(), nullptr, fmt::format("{}: {}", path, error.message()));
  }
  return imported;
}

Initializers read_initializers(const std::string& path) {
  Initializers read{{}, read_model(path), {}};
  for (const TensorData& tensor : read.model->graph.initializers) {
    read.values.emplace(tensor.name, value_of(tensor, *read.model, read.copies));
  }
  return read;
}

}  // namespace ingot::onnx
