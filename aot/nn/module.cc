#include "aot/nn/module.h"

#include "aot/frontend/trace/trace.h"

namespace ingot::nn {

// Invariant: a parent is alive as long as its name matters to somebody who holds only the child's parameters; the name
// of an orphan is the path that is left.
struct Module::Node {
  std::string name;
  std::weak_ptr<Node> parent;
  std::vector<std::shared_ptr<Node>> children;
  std::vector<Tensor> parameters, buffers;
  bool is_training = true;

  std::string path() const {
    const auto above = parent.lock();
    return above ? joined(above->path(), name) : name;
  }

  static std::string joined(const std::string& path, const std::string& leaf) {
    return path.empty() ? leaf : path + "." + leaf;
  }

  template <typename F>
  void visit(const F& function) {
    function(*this);
    for (const auto& child : children) child->visit(function);
  }

  static std::shared_ptr<Variable> variable(const std::shared_ptr<Node>& node, std::string name, TensorType type,
                                            std::string role, Initializer initializer) {
    auto path = [owner = std::weak_ptr<Node>(node), name = std::move(name)] {
      const auto alive = owner.lock();
      return alive ? joined(alive->path(), name) : name;
    };
    return std::make_shared<Variable>(
        Variable{std::move(path), std::move(type), std::move(role), std::move(initializer), false});
  }
};

Module::Module() : node_(std::make_shared<Node>()) {}

Tensor Module::operator()(const In& x) {
  const Scope scope(x.at);
  const PartScope part(node_->path());
  return forward(x.tensor);
}

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> all;
  node_->visit([&](const Node& node) { all.insert(all.end(), node.parameters.begin(), node.parameters.end()); });
  return all;
}

std::vector<Tensor> Module::buffers() const {
  std::vector<Tensor> all;
  node_->visit([&](const Node& node) { all.insert(all.end(), node.buffers.begin(), node.buffers.end()); });
  return all;
}

Module& Module::train(bool training) {
  node_->visit([&](Node& node) { node.is_training = training; });
  return *this;
}

bool Module::is_training() const { return node_->is_training; }

Module& Module::requires_grad_(bool requires_grad) {
  for (Tensor parameter : parameters()) parameter.requires_grad_(requires_grad);
  return *this;
}

Module& Module::named(std::string name) {
  node_->name = std::move(name);
  return *this;
}

Tensor Module::register_parameter(std::string name, TensorType type, Initializer initializer) {
  const auto variable = Node::variable(node_, std::move(name), std::move(type), "param", std::move(initializer));
  variable->requires_grad = is_float(variable->type.dtype);
  return node_->parameters.emplace_back(tensor_of(variable));
}

Tensor Module::register_buffer(std::string name, TensorType type, Initializer initializer) {
  const auto variable = Node::variable(node_, std::move(name), std::move(type), "buffer", std::move(initializer));
  return node_->buffers.emplace_back(tensor_of(variable));
}

void Module::adopt(std::string name, const Module& child) {
  child.node_->name = std::move(name);
  child.node_->parent = node_;
  node_->children.push_back(child.node_);
}

}  // namespace ingot::nn
