// Modules made of modules.
#pragma once

#include "aot/nn/module.h"

namespace ingot::nn {

// Modules in a list, named "0", "1", ...; a loop over them is the user's own.
class ModuleList : public Module {
 public:
  template <std::derived_from<Module>... M>
  explicit ModuleList(const M&... modules) {
    (append(modules), ...);
  }

  template <std::derived_from<Module> M>
  ModuleList& append(const M& module) {
    adopt(std::to_string(modules_.size()), module);
    modules_.push_back(std::make_shared<M>(module));
    return *this;
  }

  size_t size() const { return modules_.size(); }
  Module& operator[](size_t i) const { return *modules_.at(i); }
  auto begin() const { return modules_.begin(); }  // of std::shared_ptr<Module>
  auto end() const { return modules_.end(); }

  Tensor forward(const Tensor& x) override;  // an error: a list is not a function

 private:
  std::vector<std::shared_ptr<Module>> modules_;
};

// Modules one after another: Sequential net{Linear(784, 10), ReLU()}.
class Sequential : public ModuleList {
 public:
  Sequential() = default;
  template <std::derived_from<Module> First, std::derived_from<Module>... Rest>
    requires(sizeof...(Rest) > 0 || !std::derived_from<First, Sequential>)
  explicit Sequential(const First& first, const Rest&... rest) : ModuleList() {
    append(first);
    (append(rest), ...);
  }
  Tensor forward(const Tensor& x) override;
};

}  // namespace ingot::nn
