// What is being recorded. Internal to the tracer, nn, optim and lazy: users see Tensor, Program and lazy::Device.
#pragma once

#include <map>
#include <set>

#include "aot/frontend/trace/variable.h"
#include "aot/ops/support/build.h"

namespace ingot {

// Records into a function, from construction to destruction, on this thread: an entry point (entry_trace.h), or what is
// done with tensors that hold values (aot/lazy). An entry point may be traced while such tensors are recorded.
class Trace {
 public:
  virtual ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  static Trace& current();  // an error where nothing is being recorded

  GraphBuilder b;

  virtual Tensor wrap(Value* value);
  // The graph value behind a tensor, read now. Numbers become constants of `number_type`.
  Value* value(const Tensor& tensor, DType number_type = DType::kF32);

  // A variable's latest value.
  virtual Value* read(const std::shared_ptr<Variable>& variable) = 0;
  void write(const std::shared_ptr<Variable>& variable, Value* value);

  // Records into a region instead, which becomes that of a loop or a branch; `arguments` are the types of its
  // arguments, `record` gives what it returns. Nothing made in it can be used outside, and state stays as it is.
  std::unique_ptr<Block> region(std::span<const TensorType> arguments,
                                const std::function<Values(Block& block)>& record);

  // Gradients. Leaves are trained variables and the values marked here.
  void mark_leaf(const Tensor& tensor, bool is_leaf);
  bool is_leaf(const Tensor& tensor) const;
  void stop_gradient(const Value* value) { constants_.insert(value); }
  virtual void backward(const Tensor& loss, const Tensor& seed);
  Tensor grad(const Tensor& leaf) const;
  void set_grad(const Tensor& leaf, const Tensor& gradient);

  uint64_t next_random_stream();

  // Tensors that hold values: whether these are, the bytes of one, and the end of an optimizer's step.
  bool holds_values() const { return holds_values_; }
  virtual std::span<const std::byte> bytes(const Tensor& tensor);
  virtual void end_step() {}

 protected:
  using Leaf = std::pair<uint64_t, const Value*>;  // a variable's number, or a value

  Trace(Function& function, bool holds_values);

  // The variables that were read or written so far, in a fixed order.
  virtual std::vector<std::shared_ptr<Variable>> variables() const = 0;
  virtual void store(const std::shared_ptr<Variable>& variable, Value* value) = 0;

  // From here on this function is recorded into, in which nothing is a leaf or a loss yet.
  void continue_in(Function& function);
  static std::shared_ptr<Variable> variable_of(const Tensor& tensor) { return tensor.variable_; }  // null: it is none
  bool is_in_region() const { return !regions_.empty(); }
  void check_outside_of_regions(const char* what) const;

  Function* function_;
  std::set<const Value*> constants_;  // where gradients stop
  std::set<const Value*> losses_;     // of which there was a backward()
  std::map<Leaf, Tensor> grads_;
  uint64_t random_stream_ = 0;

 private:
  static Leaf leaf_of(const Tensor& tensor);
  void check_alive(const Tensor& tensor) const;

  bool holds_values_;
  Trace* outer_;                       // what is recorded again after this
  std::vector<const Block*> regions_;  // being recorded, outermost first
  uint64_t id_ = 0;
  std::vector<Value*> leaves_;
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
