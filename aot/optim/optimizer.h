// An Optimizer replaces parameters by better ones, given their gradients. Its slots (momenta, second moments, the step)
// are state of the program, named after the parameter: "optimizer.0.weight.exp_avg".
//
// Every hyperparameter is a Tensor: a number becomes a constant of the program; an input of the entry point can be
// changed at run time without a new bundle. `adam.options.weight_decay = wd;` within an entry point is how to pass one.
#pragma once

#include <map>

#include "aot/frontend/trace/functions.h"
#include "aot/frontend/trace/variable.h"

namespace ingot::optim {

// A hyperparameter that is switched off: the number 0, not a value of run time.
inline bool is_zero(const Tensor& t) { return t.is_number() && t.number() == 0; }

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Updates every parameter that has a gradient. Weights already read keep their old values.
  void step(Where at = Where::current());
  void step(const Tensor& lr, Where at = Where::current());
  void zero_grad(Where at = Where::current());  // gradients otherwise add up within one entry point

  Optimizer& named(std::string name);  // instead of "optimizer"; needed only where two share a program

 protected:
  Optimizer(std::vector<Tensor> parameters, bool counts_steps);

  virtual Tensor default_lr() const = 0;
  virtual void update(Tensor parameter, const Tensor& gradient, const Tensor& lr) = 0;

  // The parameter's slot, made on first use: of the parameter's type, or another.
  Tensor slot(const Tensor& parameter, const std::string& name, const Initializer& initializer = init::zeros());
  Tensor slot(const Tensor& parameter, const std::string& name, TensorType type,
              const Initializer& initializer = init::zeros());
  // How many steps have been made, this one included: i64[].
  const Tensor& steps() const { return steps_; }
  // 1 - beta^steps of the parameter's dtype, computed in f64 without cancellation. Kingma & Ba 2015, algorithm 1.
  Tensor bias_correction(const Tensor& beta, DType dtype) const;

 private:
  std::shared_ptr<std::string> name_;
  std::vector<Tensor> parameters_;
  std::map<std::pair<std::string, std::string>, Tensor> slots_;
  Tensor steps_;
};

}  // namespace ingot::optim
