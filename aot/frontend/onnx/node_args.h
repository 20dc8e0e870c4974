// What the function that lowers an op of ONNX is given: the node, its inputs, its attributes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aot/frontend/onnx/model.h"
#include "aot/frontend/onnx/terms.h"

namespace ingot::onnx {

// What a name of a graph stands for: a tensor, a sequence, or an optional that holds nothing.
struct Item {
  Item() = default;
  Item(Value* tensor) : value(tensor) {}
  Item(Term tensor) : value(tensor) {}

  static Item sequence_of(std::vector<Item> items) {
    Item item;
    item.sequence = std::make_shared<const std::vector<Item>>(std::move(items));
    return item;
  }
  bool is_nothing() const { return !value && !sequence; }

  Value* value = nullptr;
  std::shared_ptr<const std::vector<Item>> sequence;
};

// One for each output of a node; fewer, where the last ones were not asked for.
struct Items : std::vector<Item> {
  Items() = default;
  Items(Term tensor) : std::vector<Item>{Item(tensor)} {}
  Items(Item item) : std::vector<Item>{std::move(item)} {}
  Items(std::initializer_list<Item> items) : std::vector<Item>(items) {}
};

class GraphImporter;

class NodeArgs {
 public:
  NodeArgs(GraphImporter& importer, GraphBuilder& builder, const Node& node, int64_t opset, std::vector<Item> inputs)
      : b(builder),
        node(node),
        opset(opset),
        importer(importer),
        inputs_(std::move(inputs)),
        is_read_(node.attributes.size()) {}

  GraphBuilder& b;
  const Node& node;
  const int64_t opset;  // the version of the node's domain
  GraphImporter& importer;

  // --- inputs --------------------------------------------------------------------------------------------------------
  int count() const { return static_cast<int>(inputs_.size()); }
  bool has(int i) const { return i < count() && !inputs_[i].is_nothing(); }
  Term in(int i) const;                   // an error where it is absent or no tensor
  Term in_or(int i, double value) const;  // where it is absent, a splat like the first input
  std::vector<Term> all() const;          // every input
  const Item& item(int i) const;          // an error where there is none
  const std::vector<Item>& sequence(int i) const;
  bool wants(int i) const { return i < std::ssize(node.outputs) && !node.outputs[i].empty(); }

  // --- attributes ----------------------------------------------------------------------------------------------------
  const Attribute* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  int64_t integer(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t otherwise) const;
  bool flag(std::string_view name, bool otherwise = false) const { return integer(name, otherwise) != 0; }
  double number(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  std::vector<int64_t> integers(std::string_view name, std::vector<int64_t> otherwise = {}) const;
  std::vector<double> numbers(std::string_view name, std::vector<double> otherwise = {}) const;
  const Graph& graph(std::string_view name) const;
  DType dtype(std::string_view name, DType otherwise) const;

  // --- what is known while importing ---------------------------------------------------------------------------------
  std::optional<RefTensor> maybe_known(int i) const;
  RefTensor known(int i) const;  // an error that says what to do where the value is an input's
  std::vector<int64_t> known_integers(int i) const;
  int64_t known_integer(int i) const;  // of one element
  int64_t known_integer(int i, int64_t otherwise) const { return has(i) ? known_integer(i) : otherwise; }
  double known_number(int i) const;  // the same of any type but complex ones
  // An attribute of older opsets that became an input; `otherwise` where there is neither.
  std::vector<int64_t> integers_of(std::string_view attribute, int input, std::vector<int64_t> otherwise = {}) const;

  // --- checks --------------------------------------------------------------------------------------------------------
  int64_t axis(int64_t axis, int rank) const;  // from 0 on
  std::vector<int64_t> axes(std::vector<int64_t> axes, int rank) const;
  // Where they are known, those of an input lie in [-size, size), or [0, size) unless `from_end`. Of index vectors, which
  // lie along the last dimension, there is a size for each component.
  void check_indices(int i, const std::vector<int64_t>& sizes, bool from_end = true) const;
  [[noreturn]] void fail(const std::string& message) const;   // the model is wrong
  [[noreturn]] void limit(const std::string& message) const;  // right, but not supported
  void check_inputs(int min, int max) const;
  void check_attributes() const;  // the op has them all in this opset, and they are of its types
  void check_all_read() const;    // by the function that lowers the op, but for hints

 private:
  std::vector<Item> inputs_;
  mutable std::vector<bool> is_read_;  // the node's attributes
};

using LowerNode = Items (*)(NodeArgs&);

}  // namespace ingot::onnx
