// State: parameters, buffers, optimizer slots. A variable outlives every trace; entry points share it by its name.
#pragma once

#include <functional>

#include "aot/frontend/trace/tensor.h"

namespace ingot {

// How the generated `init` entry fills a variable. Values are drawn by Philox4x32-10, keyed by the seed and the
// variable's name: adding a layer does not change the others.
struct InitArgs {
  TensorType type;
  Tensor seed;      // i64[]: the input of `init`
  uint64_t stream;  // a hash of the variable's name
};
using Initializer = std::function<Tensor(const InitArgs&)>;

namespace init {
Initializer constant(double value);
inline Initializer zeros() { return constant(0); }
inline Initializer ones() { return constant(1); }
Initializer uniform(double low, double high);
Initializer normal(double mean = 0, double deviation = 1);
Initializer seed();  // the seed itself
}  // namespace init

struct Variable {
  std::function<std::string()> name;  // unique within a program: "0.weight", "optimizer.0.weight.exp_avg"
  TensorType type;
  std::string role;         // "param", "buffer", "optimizer", "rng", "step"
  Initializer initializer;  // empty: its first value comes with the program
  bool requires_grad = false;
  uint64_t number = next_number();  // no other variable's

  bool is_state() const { return !role.empty(); }  // else it stands for a tensor that holds a value
  static uint64_t next_number();
};

// What the initializer gives for this seed.
Tensor first_value(const Variable& variable, const Tensor& seed);

// A tensor that reads and writes a variable.
Tensor tensor_of(std::shared_ptr<Variable> variable);

// The state behind dropout: the seed that `init` was given, and a step that counts the runs that drew numbers.
std::shared_ptr<Variable> random_seed();
std::shared_ptr<Variable> random_step();

// A parameter on its own, outside of any module,
// as in `Tensor w = parameter("w", {DType::kF32, {64, 10}}, init::normal())`.
Tensor parameter(std::string name, TensorType type, Initializer initializer);
Tensor buffer(std::string name, TensorType type, Initializer initializer);

}  // namespace ingot
