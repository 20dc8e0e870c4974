// Records what is done with tensors that hold values, and computes it when one is asked for.
//
// Every tensor is a variable here. What is recorded is one function, until it runs: its results are the values of all
// variables that are still alive, by which each is known from then on, and recording goes on in an empty function. What
// gradients may still flow through is carried over (carry_over).
#pragma once

#include "aot/frontend/trace/trace.h"
#include "aot/lazy/programs.h"
#include "aot/passes/gradients/differentiate.h"

namespace ingot::lazy {

class Recorder : public Trace {
 public:
  Recorder(Programs& programs, int64_t seed);

  Tensor tensor(const TensorType& type, MemoryRef memory);
  void seed(int64_t seed);  // starts the random numbers of dropout anew, and those of parameters not yet used
  void run();               // computes every tensor that is alive
  std::string text(const Tensor& tensor);

  Tensor wrap(Value* value) override;
  Value* read(const std::shared_ptr<Variable>& variable) override;
  std::span<const std::byte> bytes(const Tensor& tensor) override;
  void backward(const Tensor& loss, const Tensor& seed) override;
  void end_step() override { run(); }

 private:
  struct Held {
    std::weak_ptr<Variable> variable;
    Value* value = nullptr;  // in the function that is being recorded; null until it is read there
    MemoryRef memory;        // null until it is computed
    bool is_spent = false;   // how it was computed is forgotten, though it depends on what is trained
  };
  Recorder(Programs& programs, int64_t seed, std::unique_ptr<Module> recorded);
  std::vector<std::shared_ptr<Variable>> variables() const override;
  void store(const std::shared_ptr<Variable>& variable, Value* value) override;
  Held& held(const std::shared_ptr<Variable>& variable);
  Value* record_first_value(const Variable& variable);
  Value* argument(const TensorType& type, const MemoryRef& memory);
  void count_random_step();
  void forget_dead();
  ValueSet trained() const;
  ValueSet flowing() const;
  ValueSet spent(const ValueSet& flowing) const;
  void carry_over();

  static constexpr size_t kForgetMin = 1024;

  Programs& programs_;
  std::unique_ptr<Module> recorded_;  // one function
  std::map<uint64_t, Held> held_;     // by the variable's number
  size_t alive_ = 0;                  // of those, when the dead were last forgotten
  std::map<std::string, std::weak_ptr<Variable>> names_;
  std::map<const Memory*, Value*> arguments_;
  KnownValues known_;
  ValueSet spent_;    // arguments and old values of parameters through which no gradient can flow
  ValueSet derived_;  // made by backward()
  Tensor seed_;
};

}  // namespace ingot::lazy
