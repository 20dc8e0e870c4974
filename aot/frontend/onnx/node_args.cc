#include "aot/frontend/onnx/node_args.h"

#include <fmt/format.h>

#include "aot/base/error.h"
#include "aot/frontend/onnx/attribute_table.h"
#include "aot/frontend/onnx/graph_importer.h"
#include "aot/frontend/onnx/op_table.h"
#include "aot/frontend/onnx/read_model.h"

namespace ingot::onnx {
namespace {

// Tools keep notes of their own in such attributes; ONNX's checker passes them by.
bool is_internal(std::string_view attribute) { return attribute.starts_with("__"); }

}  // namespace

const Item& NodeArgs::item(int i) const {
  if (!has(i)) fail(fmt::format("its input {} is missing", i));
  return inputs_[i];
}

Term NodeArgs::in(int i) const {
  const Item& found = item(i);
  if (!found.value) fail(fmt::format("its input {} is a sequence, and must be a tensor", i));
  return {b, found.value};
}

Term NodeArgs::in_or(int i, double value) const { return has(i) ? in(i) : constant(b, {dtype_of(in(0)), {}}, value); }

std::vector<Term> NodeArgs::all() const {
  std::vector<Term> terms;
  for (int i = 0; i < count(); ++i) terms.push_back(in(i));
  return terms;
}

const std::vector<Item>& NodeArgs::sequence(int i) const {
  const Item& found = item(i);
  if (!found.sequence) fail(fmt::format("its input {} is a tensor, and must be a sequence", i));
  return *found.sequence;
}

const Attribute* NodeArgs::find(std::string_view name) const {
  if (const Attribute* own = node.find(name)) is_read_[own - node.attributes.data()] = true;
  return importer.attribute(node, name);
}

int64_t NodeArgs::integer(std::string_view name) const {
  const Attribute* a = find(name);
  if (!a) fail(fmt::format("its attribute {} is missing", name));
  return a->i;
}

int64_t NodeArgs::integer(std::string_view name, int64_t otherwise) const {
  const Attribute* a = find(name);
  return a ? a->i : otherwise;
}

double NodeArgs::number(std::string_view name, double otherwise) const {
  const Attribute* a = find(name);
  return a ? static_cast<double>(a->f) : otherwise;
}

std::string NodeArgs::text(std::string_view name, std::string_view otherwise) const {
  const Attribute* a = find(name);
  return std::string(a ? a->s : otherwise);
}

std::vector<int64_t> NodeArgs::integers(std::string_view name, std::vector<int64_t> otherwise) const {
  const Attribute* a = find(name);
  return a ? a->ints : otherwise;
}

std::vector<double> NodeArgs::numbers(std::string_view name, std::vector<double> otherwise) const {
  const Attribute* a = find(name);
  return a ? std::vector<double>(a->floats.begin(), a->floats.end()) : otherwise;
}

const Graph& NodeArgs::graph(std::string_view name) const {
  const Attribute* a = find(name);
  if (!a || !a->graph) fail(fmt::format("its attribute {}, a graph, is missing", name));
  return *a->graph;
}

DType NodeArgs::dtype(std::string_view name, DType otherwise) const {
  const Attribute* a = find(name);
  return a ? onnx::dtype_of(a->i, fmt::format("its attribute {}", name)) : otherwise;
}

std::optional<RefTensor> NodeArgs::maybe_known(int i) const {
  const Item& found = item(i);
  return found.value ? importer.known(found.value) : std::nullopt;
}

RefTensor NodeArgs::known(int i) const {
  std::optional<RefTensor> value = maybe_known(i);
  if (value) return *std::move(value);
  const std::string_view name = i < std::ssize(node.inputs) ? node.inputs[i] : "";
  limit(fmt::format(
      "shapes depend on the values of its input {} ('{}'), which the model computes while it runs; make it a "
      "constant or an initializer",
      i, name));
}

std::vector<int64_t> NodeArgs::known_integers(int i) const {
  RefTensor value = known(i);
  if (value.is_float() || value.is_complex()) fail(fmt::format("its input {} must be of integers", i));
  return std::move(value.i);
}

int64_t NodeArgs::known_integer(int i) const {
  const std::vector<int64_t> values = known_integers(i);
  if (values.size() != 1) fail(fmt::format("its input {} must be one number, not {}", i, values.size()));
  return values[0];
}

double NodeArgs::known_number(int i) const {
  const RefTensor value = known(i);
  if (value.elements() != 1 || value.is_complex()) fail(fmt::format("its input {} must be one number", i));
  return value.is_float() ? value.f[0] : static_cast<double>(value.i[0]);
}

std::vector<int64_t> NodeArgs::integers_of(std::string_view attribute, int input,
                                           std::vector<int64_t> otherwise) const {
  if (has(attribute)) return integers(attribute);
  return has(input) ? known_integers(input) : otherwise;
}

int64_t NodeArgs::axis(int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank) fail(fmt::format("axis {} of a tensor of {} dimensions", axis, rank));
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> NodeArgs::axes(std::vector<int64_t> axes, int rank) const {
  std::vector<bool> seen(rank);
  for (int64_t& a : axes) {
    a = axis(a, rank);
    if (seen[a]) fail(fmt::format("axis {} twice", a));
    seen[a] = true;
  }
  return axes;
}

void NodeArgs::check_indices(int i, const std::vector<int64_t>& sizes, bool from_end) const {
  const std::optional<RefTensor> indices = maybe_known(i);
  if (!indices || indices->is_float() || indices->is_complex()) return;
  for (size_t k = 0; k < indices->i.size(); ++k) {
    const int64_t at = indices->i[k], size = sizes[k % sizes.size()];
    if (at >= (from_end ? -size : 0) && at < size) continue;
    fail(fmt::format("its input {} ('{}') has the index {}, which is not one of {} elements", i, node.inputs[i], at,
                     size));
  }
}

void NodeArgs::check_inputs(int min, int max) const {
  int given = count();
  while (given > max && !has(given - 1)) --given;  // left out at the end
  if (given >= min && given <= max) return;
  const std::string takes = max == OpRow::kAny ? fmt::format("at least {}", min)
                            : min == max       ? fmt::format("{}", min)
                                               : fmt::format("{} to {}", min, max);
  fail(fmt::format("it has {} inputs, and {} of opset {} takes {}; name the opset that the model was written for",
                   given, node.op, opset, takes));
}

void NodeArgs::check_attributes() const {
  for (const Attribute& own : node.attributes) {
    if (is_internal(own.name)) continue;
    if (node.find(own.name) != &own) fail(fmt::format("it has the attribute {} twice", own.name));
    const AttributeRow* row = find_attribute(node.domain, node.op, own.name, opset);
    if (!row) {
      fail(
          fmt::format("it has the attribute {}, which {} of opset {} does not have; remove it, or name the opset that "
                      "the model was written for",
                      own.name, node.op, opset));
    }
    const Attribute* given = importer.attribute(node, own.name);
    const auto wanted = static_cast<int64_t>(row->kind);
    if (given && given->type != wanted)
      fail(fmt::format("its attribute {} is {}, and must be {}", own.name, kind_name(given->type), kind_name(wanted)));
  }
}

void NodeArgs::check_all_read() const {
  for (size_t i = 0; i < is_read_.size(); ++i) {
    const std::string_view name = node.attributes[i].name;
    if (is_read_[i] || is_internal(name) || find_attribute(node.domain, node.op, name, opset)->is_hint) continue;
    limit(
        fmt::format("its attribute {} is not supported beside its others and its inputs; remove it where the result "
                    "does not depend on it",
                    name));
  }
}

void NodeArgs::fail(const std::string& message) const { throw_error(b.location, message); }

void NodeArgs::limit(const std::string& message) const { throw_limit(b.location, message); }

}  // namespace ingot::onnx
