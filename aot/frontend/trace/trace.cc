#include "aot/frontend/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/base/contains.h"
#include "aot/base/join.h"
#include "aot/passes/gradients/gradients.h"

namespace ingot {
namespace {

thread_local Trace* current_trace = nullptr;
thread_local uint64_t last_trace_id = 0;
thread_local Location outermost_location;

std::string file_name(std::string_view path) {
  const size_t slash = path.find_last_of("/\\");
  return std::string(slash == path.npos ? path : path.substr(slash + 1));
}

}  // namespace

// --- scopes ----------------------------------------------------------------------------------------------------------

Scope::Scope(const Where& at) : is_outermost_(!outermost_location) {
  if (is_outermost_) open(file_location(file_name(at.file_name()), int(at.line()), int(at.column())));
}

Scope::Scope(Location location) : is_outermost_(!outermost_location) {
  if (is_outermost_) open(std::move(location));
}

void Scope::open(Location location) {
  outermost_location = std::move(location);
  if (current_trace) current_trace->b.location = outermost_location;
}

Scope::~Scope() {
  if (is_outermost_) outermost_location = nullptr;
}

PartScope::PartScope(const std::string& path) {
  if (!current_trace) return;
  before_ = current_trace->b.location;
  if (!path.empty()) current_trace->b.location = named_location(path, outermost_location);
}

PartScope::~PartScope() {
  if (current_trace) current_trace->b.location = before_;
}

void fail(const std::string& message) { throw_error(outermost_location, message); }

int64_t axis_of(int64_t dim, int64_t rank, const char* function) {
  if (dim < -rank || dim >= rank) {
    fail(fmt::format("{}: dimension {} is outside of [{}, {}]", function, dim, -rank, rank - 1));
  }
  return dim < 0 ? dim + rank : dim;
}

Dims axes_of(const Dims& dims, int64_t rank, const char* function) {
  Dims axes;
  if (dims.empty()) {
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
    return axes;
  }
  for (int64_t dim : dims) axes.push_back(axis_of(dim, rank, function));
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    fail(fmt::format("{}: a dimension appears twice in [{}]", function, join(dims, ", ")));
  }
  return axes;
}

// --- the trace -------------------------------------------------------------------------------------------------------

Trace::Trace(Function& function, bool holds_values) : holds_values_(holds_values), outer_(current_trace) {
  if (outer_ && !outer_->holds_values()) {
    throw_error(nullptr, "an entry point is being traced: neither another nor a lazy::Device can begin in it");
  }
  if (outer_ && holds_values) throw_error(nullptr, "this thread has a lazy::Device already");
  current_trace = this;
  continue_in(function);
}

Trace::~Trace() { current_trace = outer_; }

void Trace::continue_in(Function& function) {
  function_ = &function;
  id_ = ++last_trace_id;
  constants_.clear();
  losses_.clear();
  leaves_.clear();
  random_stream_ = 0;
  b.at_end(function.body);
}

Trace& Trace::current() {
  if (!current_trace) {
    fail(
        "tensors can be computed with only inside of an entry point, Program::add(name, function), or while a "
        "lazy::Device records them");
  }
  return *current_trace;
}

Tensor Trace::wrap(Value* value) {
  Tensor tensor;
  tensor.kind_ = Tensor::Kind::kTraced;
  tensor.trace_id_ = id_;
  tensor.value_ = value;
  return tensor;
}

void Trace::check_alive(const Tensor& tensor) const {
  if (tensor.trace_id_ != id_) {
    fail("this tensor belongs to another entry point; entry points share only parameters and buffers");
  }
  const Value* value = tensor.value_;
  const Block* block = value->op ? value->op->block : value->block;
  if (block != &function_->body && !contains(regions_, block)) {
    fail("this tensor was made inside of a scan, cond or while_loop; return it from there to use it outside");
  }
}

void Trace::check_outside_of_regions(const char* what) const {
  if (!regions_.empty()) fail(fmt::format("{} inside of a scan, cond or while_loop", what));
}

std::unique_ptr<Block> Trace::region(std::span<const TensorType> arguments,
                                     const std::function<Values(Block&)>& record) {
  // Back to where it was, also when the user's function throws.
  struct Return {
    Trace& trace;
    Block* block;
    ~Return() {
      trace.regions_.pop_back();
      trace.b.at_end(*block);
    }
  };
  auto made = std::make_unique<Block>();
  for (const TensorType& type : arguments) made->add_argument(type, "", b.location);
  const Return back{*this, b.block()};
  regions_.push_back(made.get());
  b.at_end(*made);
  b.create(kStablehloReturn, record(*made));
  return made;
}

Value* Trace::value(const Tensor& tensor, DType number_type) {
  switch (tensor.kind_) {
    case Tensor::Kind::kNothing:
      fail("a tensor that was never given a value is read");
    case Tensor::Kind::kNumber:
      return ops::constant(b, {number_type, {}}, tensor.number_);
    case Tensor::Kind::kVariable:
      return read(tensor.variable_);
    case Tensor::Kind::kTraced:
      break;
  }
  check_alive(tensor);
  return tensor.value_;
}

void Trace::write(const std::shared_ptr<Variable>& variable, Value* value) {
  check_outside_of_regions("state cannot be written");
  if (value->type != variable->type) {
    fail(fmt::format("'{}' is {} and cannot become {}", variable->name(), to_string(variable->type),
                     to_string(value->type)));
  }
  // Gradients stop at state, but not at other uses of what is written there: that gets a name of its own.
  Value* stored = b.make(kReshape, {value}, {}, {value->type});
  stop_gradient(stored);
  store(variable, stored);
}

std::span<const std::byte> Trace::bytes(const Tensor& tensor) {
  fail(fmt::format("{} has no value while an entry point is traced; return it from there, as an output",
                   tensor.is_number() ? "a number" : to_string(value(tensor)->type)));
}

// --- gradients -------------------------------------------------------------------------------------------------------

Trace::Leaf Trace::leaf_of(const Tensor& tensor) {
  return {tensor.variable_ ? tensor.variable_->number : 0, tensor.value_};
}

void Trace::mark_leaf(const Tensor& tensor, bool is_leaf) {
  check_alive(tensor);
  std::erase(leaves_, tensor.value_);
  if (is_leaf) leaves_.push_back(tensor.value_);
}

bool Trace::is_leaf(const Tensor& tensor) const { return contains(leaves_, tensor.value_); }

void Trace::backward(const Tensor& loss, const Tensor& seed) {
  check_outside_of_regions("backward() cannot be called");
  Values wrt;
  std::vector<Tensor> leaves;
  for (const auto& variable : variables()) {
    if (!variable->requires_grad) continue;
    wrt.push_back(read(variable));
    leaves.push_back(tensor_of(variable));
  }
  for (Value* leaf : leaves_) {
    wrt.push_back(leaf);
    leaves.push_back(wrap(leaf));
  }
  Value* loss_value = value(loss);
  const GradientOptions options{seed.defined() ? value(seed, loss_value->type.dtype) : nullptr, constants_};
  const Values found = gradients(b, loss_value, wrt, options);
  if (std::all_of(found.begin(), found.end(), [](const Value* gradient) { return !gradient; })) {
    fail("backward: the loss depends on no parameter that requires a gradient");
  }
  losses_.insert(loss_value);
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) continue;
    Tensor& grad = grads_[leaf_of(leaves[i])];
    grad = wrap(grad.defined() ? ops::add(b, value(grad), found[i]) : found[i]);
  }
}

Tensor Trace::grad(const Tensor& leaf) const {
  const auto found = grads_.find(leaf_of(leaf));
  return found == grads_.end() ? Tensor() : found->second;
}

void Trace::set_grad(const Tensor& leaf, const Tensor& gradient) {
  if (!gradient.defined()) {
    grads_.erase(leaf_of(leaf));
    return;
  }
  if (value(gradient)->type != leaf.type()) {
    fail(fmt::format("the gradient is {}, its tensor {}", to_string(value(gradient)->type), to_string(leaf.type())));
  }
  grads_[leaf_of(leaf)] = gradient;
}

uint64_t Trace::next_random_stream() {
  check_outside_of_regions("random numbers would be the same in every iteration and are not drawn");
  return ++random_stream_;
}

}  // namespace ingot
