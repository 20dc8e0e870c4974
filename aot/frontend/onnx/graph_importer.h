// Walks the nodes of an ONNX graph and lowers each into a function's body.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aot/frontend/onnx/known_values.h"
#include "aot/frontend/onnx/model.h"
#include "aot/frontend/onnx/node_args.h"
#include "aot/graph/graph.h"

namespace ingot::onnx {

class GraphImporter {
 public:
  GraphImporter(const Model& model, Function& function);

  // The model's own graph, whose inputs are `inputs` in order (without those that are initializers); its outputs.
  std::vector<Item> run_model(const std::vector<Item>& inputs);
  // A graph within a node: it also sees the names around it.
  std::vector<Item> run_inner(const Graph& graph, const std::vector<Item>& inputs);
  // A block with `arguments`, in which `body` builds; what it returns ends the block. After an Error the builder stands
  // where it stood before.
  std::unique_ptr<Block> region(const std::vector<TensorType>& arguments,
                                const std::function<Values(const Values& arguments)>& body);

  // A block that was only tried stays, so that no other value comes to stand where one of its values stood.
  void keep(std::unique_ptr<Block> block) { tried_.push_back(std::move(block)); }

  const Attribute* attribute(const Node& node, std::string_view name) const;
  std::optional<RefTensor> known(const Value* value) { return known_.find(value); }
  GraphBuilder& builder() { return b_; }
  const Model& model() const { return model_; }

  // The arguments of the function that are weights of the model.
  const std::map<const Value*, const TensorData*>& weights() const { return weights_; }

 private:
  struct Scope {
    const Scope* outer = nullptr;  // whose names are seen
    std::map<std::string_view, Item> values;
    std::map<std::string_view, const TensorData*> initializers;
    const std::vector<OpsetImport>* opsets = nullptr;
    std::map<std::string_view, const Attribute*> attributes;  // of the function that is being inlined
  };
  // A scope is entered and left, also by an Error.
  class Entered {
   public:
    Entered(GraphImporter& importer, Scope& scope)
        : importer_(importer), outer_(std::exchange(importer.scope_, &scope)), depth_(importer.depth_) {
      importer.enter();
    }
    ~Entered() {
      importer_.scope_ = outer_;
      importer_.depth_ = depth_;
    }
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;

   private:
    GraphImporter& importer_;
    Scope* outer_;
    int depth_;
  };
  void enter();

  void add_initializers(const Graph& graph);
  void run_node(const Node& node);
  Items lower(const Node& node, std::vector<Item> inputs);
  Items inline_function(const LocalFunction& function, const Node& node, const std::vector<Item>& inputs);
  std::vector<Item> outputs_of(const Graph& graph);
  Item find(std::string_view name);
  Item read_initializer(const TensorData& tensor);
  void define(std::string_view name, Item item);
  int64_t opset_of(std::string_view domain) const;

  const Model& model_;
  Function& function_;
  GraphBuilder b_;
  Scope* scope_ = nullptr;
  std::map<const TensorData*, Item> initializers_;
  std::map<const Value*, const TensorData*> weights_;
  KnownValues known_;
  std::vector<std::unique_ptr<Block>> tried_;
  int depth_ = 0;
  int64_t nodes_left_;
};

// The function that a node calls; null for an op.
const LocalFunction* find_function(const Model& model, const Node& node);

// The version of a domain by the first list that has it, else by the second one; 0 where neither has.
int64_t opset_version(const std::vector<OpsetImport>& opsets, const std::vector<OpsetImport>& otherwise,
                      std::string_view domain);

}  // namespace ingot::onnx
