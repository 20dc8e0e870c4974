#include "aot/frontend/trace/tensor.h"

#include <fmt/format.h>

#include "aot/frontend/trace/functions.h"
#include "aot/frontend/trace/trace.h"

namespace ingot {

Tensor tensor_of(std::shared_ptr<Variable> variable) {
  Tensor tensor;
  tensor.kind_ = Tensor::Kind::kVariable;
  tensor.variable_ = std::move(variable);
  return tensor;
}

const TensorType& Tensor::type(Where at) const {
  if (kind_ == Kind::kVariable) return variable_->type;
  const Scope scope(at);
  if (kind_ == Kind::kNumber) fail(fmt::format("the number {} has no type or shape of its own", number_));
  return Trace::current().value(*this)->type;
}

int64_t Tensor::size(int64_t dim, Where at) const {
  const Scope scope(at);
  return shape()[axis_of(dim, this->dim(), "size")];
}

void Tensor::backward(const Tensor& gradient, Where at) const {
  const Scope scope(at);
  Trace::current().backward(*this, gradient);
}

Tensor Tensor::grad(Where at) const {
  const Scope scope(at);
  return Trace::current().grad(*this);
}

void Tensor::set_grad(const Tensor& gradient, Where at) const {
  const Scope scope(at);
  Trace::current().set_grad(*this, gradient);
}

Tensor& Tensor::requires_grad_(bool requires_grad) {
  if (kind_ == Kind::kVariable) {
    variable_->requires_grad = requires_grad;
  } else {
    Trace::current().mark_leaf(*this, requires_grad);
  }
  return *this;
}

bool Tensor::requires_grad() const {
  if (kind_ == Kind::kVariable) return variable_->requires_grad;
  return kind_ == Kind::kTraced && Trace::current().is_leaf(*this);
}

Tensor Tensor::detach(Where at) const { return ingot::detach({*this, at}); }

void Tensor::copy_(const Tensor& value, Where at) {
  const Scope scope(at);
  if (kind_ != Kind::kVariable || !variable_->is_state())
    fail("copy_: only parameters and buffers can be written; a traced tensor never changes");
  Trace& trace = Trace::current();
  trace.write(variable_, trace.value(value, variable_->type.dtype));
}

std::string Tensor::name() const { return kind_ == Kind::kVariable ? variable_->name() : std::string(); }

Tensor Tensor::to(DType dtype, Where at) const { return ingot::to({*this, at}, dtype); }
Tensor Tensor::exp(Where at) const { return ingot::exp({*this, at}); }
Tensor Tensor::log(Where at) const { return ingot::log({*this, at}); }
Tensor Tensor::sqrt(Where at) const { return ingot::sqrt({*this, at}); }
Tensor Tensor::rsqrt(Where at) const { return ingot::rsqrt({*this, at}); }
Tensor Tensor::abs(Where at) const { return ingot::abs({*this, at}); }
Tensor Tensor::tanh(Where at) const { return ingot::tanh({*this, at}); }
Tensor Tensor::sigmoid(Where at) const { return ingot::sigmoid({*this, at}); }
Tensor Tensor::relu(Where at) const { return ingot::relu({*this, at}); }
Tensor Tensor::square(Where at) const { return ingot::square({*this, at}); }
Tensor Tensor::pow(const Tensor& exponent, Where at) const { return ingot::pow({*this, at}, exponent); }
Tensor Tensor::matmul(const Tensor& other, Where at) const { return ingot::matmul({*this, at}, other); }
Tensor Tensor::sum(const Dims& dims, bool keepdim, Where at) const { return ingot::sum({*this, at}, dims, keepdim); }
Tensor Tensor::mean(const Dims& dims, bool keepdim, Where at) const { return ingot::mean({*this, at}, dims, keepdim); }
Tensor Tensor::amax(const Dims& dims, bool keepdim, Where at) const { return ingot::amax({*this, at}, dims, keepdim); }
Tensor Tensor::amin(const Dims& dims, bool keepdim, Where at) const { return ingot::amin({*this, at}, dims, keepdim); }
Tensor Tensor::argmax(int64_t dim, bool keepdim, Where at) const { return ingot::argmax({*this, at}, dim, keepdim); }
Tensor Tensor::softmax(int64_t dim, Where at) const { return ingot::softmax({*this, at}, dim); }
Tensor Tensor::log_softmax(int64_t dim, Where at) const { return ingot::log_softmax({*this, at}, dim); }
Tensor Tensor::reshape(const Dims& shape, Where at) const { return ingot::reshape({*this, at}, shape); }
Tensor Tensor::flatten(int64_t start_dim, int64_t end_dim, Where at) const {
  return ingot::flatten({*this, at}, start_dim, end_dim);
}
Tensor Tensor::transpose(int64_t dim0, int64_t dim1, Where at) const {
  return ingot::transpose({*this, at}, dim0, dim1);
}
Tensor Tensor::permute(const Dims& dims, Where at) const { return ingot::permute({*this, at}, dims); }
Tensor Tensor::unsqueeze(int64_t dim, Where at) const { return ingot::unsqueeze({*this, at}, dim); }
Tensor Tensor::squeeze(int64_t dim, Where at) const { return ingot::squeeze({*this, at}, dim); }
Tensor Tensor::expand(const Dims& shape, Where at) const { return ingot::expand({*this, at}, shape); }
Tensor Tensor::select(int64_t dim, int64_t index, Where at) const { return ingot::select({*this, at}, dim, index); }
Tensor Tensor::slice(int64_t dim, int64_t start, int64_t end, int64_t step, Where at) const {
  return ingot::slice({*this, at}, dim, start, end, step);
}
std::vector<Tensor> Tensor::split(int64_t split_size, int64_t dim, Where at) const {
  return ingot::split({*this, at}, split_size, dim);
}
std::vector<Tensor> Tensor::chunk(int64_t chunks, int64_t dim, Where at) const {
  return ingot::chunk({*this, at}, chunks, dim);
}
Tensor Tensor::masked_fill(const Tensor& mask, const Tensor& value, Where at) const {
  return ingot::masked_fill({*this, at}, mask, value);
}

Tensor& Tensor::operator+=(const In& other) { return *this = In(*this, other.at) + other; }
Tensor& Tensor::operator-=(const In& other) { return *this = In(*this, other.at) - other; }
Tensor& Tensor::operator*=(const In& other) { return *this = In(*this, other.at) * other; }
Tensor& Tensor::operator/=(const In& other) { return *this = In(*this, other.at) / other; }

}  // namespace ingot
