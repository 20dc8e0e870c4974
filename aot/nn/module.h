// A Module is a part of a model: named parameters, buffers and smaller modules. As in PyTorch:
//
//   struct Mlp : nn::Module {
//     nn::Linear fc1 = add("fc1", nn::Linear(784, 256));
//     nn::Linear fc2 = add("fc2", nn::Linear(256, 10));
//     Tensor forward(const Tensor& x) override { return fc2(relu(fc1(x))); }
//   };
//
// A copy of a module is another handle to the same parameters. To add a kind of module: one class, in a file of its
// own, that registers its parameters in its constructor and overrides forward().
#pragma once

#include "aot/frontend/trace/variable.h"

namespace ingot::nn {

class Module {
 public:
  Module();
  virtual ~Module() = default;

  // The module's function; the call is where its ops say they come from.
  Tensor operator()(const In& x);
  virtual Tensor forward(const Tensor& x) = 0;

  // All parameters, own ones first, then those of the children, each named by its path: "0.weight".
  std::vector<Tensor> parameters() const;
  std::vector<Tensor> buffers() const;

  Module& train(bool training = true);  // dropout drops, batch normalisation uses and updates batch statistics
  Module& eval() { return train(false); }
  bool is_training() const;
  Module& requires_grad_(bool requires_grad = true);  // false freezes: no gradient work is made for these parameters
  Module& named(std::string name);  // the prefix of a whole model's names; needed only where two models share a program

 protected:
  Tensor register_parameter(std::string name, TensorType type, Initializer initializer);
  Tensor register_buffer(std::string name, TensorType type, Initializer initializer);

  template <typename M>
  M add(std::string name, M module) {
    adopt(std::move(name), module);
    return module;
  }
  void adopt(std::string name, const Module& child);

 private:
  struct Node;
  std::shared_ptr<Node> node_;
};

}  // namespace ingot::nn
