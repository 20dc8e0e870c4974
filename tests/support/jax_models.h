// Models of the JAX goldens, written as a user of this library would; parameters carry the goldens' names.
#pragma once

#include <ingot/ingot.h>

namespace ingot {

// Parameters by name ("params.fc1.w"), and one program that trains them.
class GoldenModel {
 public:
  static GoldenModel mlp_adamw();  // 784-512-256-10, batch 128
  static GoldenModel cnn_adamw();  // conv32-conv64-pool-fc128-fc10, 28x28, batch 64

  Program& program() { return program_; }

  // What the goldens call a variable of the program: "optimizer.params.fc1.w.exp_avg" is "opt.0.mu.fc1.w".
  static std::string golden_name(const std::string& name);

 private:
  Tensor weight(const std::string& name, const Dims& shape);

  std::vector<Tensor> parameters_;
  Program program_{"golden"};
};

}  // namespace ingot
