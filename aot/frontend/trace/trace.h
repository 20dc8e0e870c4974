// The function that is being recorded. Internal to the tracer, nn and optim: users see Tensor and Program.
#pragma once

#include <map>
#include <set>

#include "aot/frontend/trace/variable.h"
#include "aot/ops/support/build.h"

namespace ingot {

// Records into one function, from construction to destruction, on this thread. Traces do not nest.
class Trace {
 public:
  explicit Trace(Function& function);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  static Trace& current();  // an error where nothing is being traced
  static bool active();

  GraphBuilder b;

  // A new input of the entry point.
  Tensor add_input(const TensorType& type, const std::string& name);
  Tensor wrap(Value* value) const;
  // The graph value behind a tensor, read now. Numbers become constants of `number_type`.
  Value* value(const Tensor& tensor, DType number_type = DType::kF32);

  // State. A variable becomes an argument when it is first touched.
  Value* read(const std::shared_ptr<Variable>& variable);
  void write(const std::shared_ptr<Variable>& variable, Value* value);
  const std::vector<std::shared_ptr<Variable>>& variables() const { return variables_; }

  // Records into a region instead, which becomes that of a loop or a branch; `arguments` are the types of its
  // arguments, `record` gives what it returns. Nothing made in it can be used outside, and state stays as it is.
  std::unique_ptr<Block> region(std::span<const TensorType> arguments,
                                const std::function<Values(Block& block)>& record);

  // Gradients. Leaves are trained variables and the values marked here.
  void mark_leaf(const Tensor& tensor, bool is_leaf);
  bool is_leaf(const Tensor& tensor) const;
  void stop_gradient(const Value* value) { constants_.insert(value); }
  void backward(const Tensor& loss, const Tensor& seed);
  Tensor grad(const Tensor& leaf) const;
  void set_grad(const Tensor& leaf, const Tensor& gradient);
  void clear_grads() { grads_.clear(); }
  bool is_loss(const Tensor& tensor) const { return tensor.value_ && losses_.contains(tensor.value_); }

  // Ends the function: results are the written state, then the outputs. Arguments: state, then inputs.
  void finish(const std::vector<std::pair<std::string, Tensor>>& outputs);

  uint64_t next_random_stream();
  bool drew_random_numbers() const { return random_stream_ > 0; }

 private:
  struct Slot {
    Value* argument = nullptr;
    Value* latest = nullptr;
    bool is_written = false;
  };
  using Leaf = std::pair<const Variable*, const Value*>;  // one of the two
  static Leaf leaf_of(const Tensor& tensor);
  Slot& slot(const std::shared_ptr<Variable>& variable);
  void check_alive(const Tensor& tensor) const;
  void check_outside_of_regions(const char* what) const;

  Function& function_;
  std::vector<const Block*> regions_;  // being recorded, outermost first
  uint64_t id_;
  uint64_t random_stream_ = 0;
  std::vector<std::shared_ptr<Variable>> variables_;  // in the order of first touch
  std::map<const Variable*, Slot> slots_;
  std::vector<std::pair<Value*, std::string>> inputs_;
  std::vector<Value*> leaves_;
  std::set<const Value*> constants_;
  std::set<const Value*> losses_;
  std::map<Leaf, Tensor> grads_;
};

// For its lifetime, ops are made at the line `at`; within another scope it does nothing, so that the outermost call,
// the user's own, is what ops and errors remember.
class Scope {
 public:
  explicit Scope(const Where& at);
  explicit Scope(Location location);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  void open(Location location);

  bool is_outermost_;
};

// For its lifetime, ops are also known by the part of the model that makes them: loc("0.attention"("model.cpp":12:3)).
class PartScope {
 public:
  explicit PartScope(const std::string& path);
  ~PartScope();
  PartScope(const PartScope&) = delete;
  PartScope& operator=(const PartScope&) = delete;

 private:
  Location before_;
};

// Throws at the outermost scope's line.
[[noreturn]] void fail(const std::string& message);

// Shorthand for tracing functions, within a Scope.
inline GraphBuilder& builder() { return Trace::current().b; }
inline Value* value_of(const Tensor& tensor, DType number_type = DType::kF32) {
  return Trace::current().value(tensor, number_type);
}
inline Tensor wrap(Value* value) { return Trace::current().wrap(value); }

// An axis in [0, rank), from one in [-rank, rank).
int64_t axis_of(int64_t dim, int64_t rank, const char* function);
// Sorted axes; all of them when `dims` is empty.
Dims axes_of(const Dims& dims, int64_t rank, const char* function);

}  // namespace ingot
