#include "aot/frontend/trace/broadcast.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "aot/base/join.h"

namespace ingot {
namespace {

int class_rank(DType dtype) { return is_float(dtype) ? 2 : is_bool(dtype) ? 0 : 1; }

// Numbers are weakest, then scalars, then tensors with dimensions.
int priority(const Tensor& tensor) { return tensor.is_number() ? 0 : tensor.dim() == 0 ? 1 : 2; }

DType own_dtype(const Tensor& tensor) {
  if (!tensor.is_number()) return tensor.dtype();
  return tensor.is_integral_number() ? DType::kI64 : DType::kF32;
}

}  // namespace

DType wider_dtype(DType a, DType b) {
  if (a == b) return a;
  const int rank_a = class_rank(a), rank_b = class_rank(b);
  if (rank_a != rank_b) return rank_a > rank_b ? a : b;
  if (rank_a == 2 && info(a).bits == info(b).bits) return DType::kF32;  // f16 and bf16
  if (rank_a == 2 || is_signed(a) == is_signed(b)) return info(a).bits > info(b).bits ? a : b;
  const DType s = is_signed(a) ? a : b, u = is_signed(a) ? b : a;
  if (info(s).bits > info(u).bits) return s;
  return info(u).bits < 16 ? DType::kI16 : info(u).bits < 32 ? DType::kI32 : DType::kI64;
}

DType promoted_dtype(std::initializer_list<const Tensor*> tensors) {
  std::optional<DType> by_priority[3];
  for (const Tensor* tensor : tensors) {
    auto& dtype = by_priority[priority(*tensor)];
    dtype = dtype ? wider_dtype(*dtype, own_dtype(*tensor)) : own_dtype(*tensor);
  }
  std::optional<DType> result;
  for (int p = 2; p >= 0; --p) {
    if (!by_priority[p]) continue;
    if (!result || class_rank(*by_priority[p]) > class_rank(*result)) result = by_priority[p];
  }
  return *result;
}

Shape broadcast_shape(const Shape& a, const Shape& b, const char* function) {
  Shape shape = a.size() < b.size() ? b : a;
  const Shape& shorter = a.size() < b.size() ? a : b;
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& size = shape[shape.size() - shorter.size() + i];
    if (size != shorter[i] && size != 1 && shorter[i] != 1) {
      fail(fmt::format("{}: [{}] and [{}] do not broadcast: sizes {} and {} differ and neither is 1", function,
                       join(a, ", "), join(b, ", "), size, shorter[i]));
    }
    if (size == 1) size = shorter[i];
  }
  return shape;
}

Shape broadcast_shape(std::initializer_list<const Tensor*> tensors, const char* function) {
  Shape shape;
  for (const Tensor* tensor : tensors) {
    if (!tensor->is_number()) shape = broadcast_shape(shape, tensor->shape(), function);
  }
  return shape;
}

Value* broadcast(const Tensor& tensor, DType dtype, const Shape& shape) {
  GraphBuilder& b = builder();
  if (tensor.is_number()) return ops::constant(b, {dtype, shape}, tensor.number());
  Value* value = ops::convert(b, value_of(tensor), dtype);
  if (value->type.shape == shape) return value;
  const Shape& own = value->type.shape;
  const int64_t lead = static_cast<int64_t>(shape.size() - own.size());
  Shape kept;  // without the dimensions that stretch
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < static_cast<int64_t>(own.size()); ++i) {
    if (own[i] == 1 && shape[lead + i] != 1) continue;
    kept.push_back(own[i]);
    dims.push_back(lead + i);
  }
  return ops::broadcast_in_dim(b, ops::reshape(b, value, kept), shape, dims);
}

Pair broadcast_pair(const Tensor& a, const Tensor& b, const char* function) {
  const DType dtype = promoted_dtype({&a, &b});
  const Shape shape = broadcast_shape({&a, &b}, function);
  return {broadcast(a, dtype, shape), broadcast(b, dtype, shape)};
}

Value* float_value(const Tensor& tensor) {
  Value* value = value_of(tensor);
  return is_float(value->type.dtype) ? value : ops::convert(builder(), value, DType::kF32);
}

}  // namespace ingot
