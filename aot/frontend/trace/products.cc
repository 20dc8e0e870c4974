// Matrix products.
#include <fmt/format.h>

#include <numeric>

#include "aot/frontend/trace/broadcast.h"
#include "aot/frontend/trace/functions.h"

namespace ingot {
namespace {

[[noreturn]] void mismatch(const Tensor& a, const Tensor& b, int64_t inner_a, int64_t inner_b) {
  fail(fmt::format("matmul: {} by {}: inner sizes {} and {} differ", to_string(a.type()), to_string(b.type()), inner_a,
                   inner_b));
}

}  // namespace

// A product with a plain matrix contracts in place, whatever the rank of the other;
// batches otherwise broadcast and lead.
Tensor matmul(const In& in, const Tensor& other) {
  const Scope scope(in.at);
  Tensor a = in.tensor, b = other;
  if (a.dim() == 0 || b.dim() == 0) fail("matmul: a scalar is not a matrix; use *");
  const DType dtype = wider_dtype(a.dtype(), b.dtype());
  const int64_t rows = b.dim() - (b.dim() > 1 ? 2 : 1);
  if (a.size(-1) != b.size(rows)) mismatch(a, b, a.size(-1), b.size(rows));
  GraphBuilder& g = builder();
  if (b.dim() <= 2) {
    return wrap(ops::dot_general(g, ops::convert(g, value_of(a), dtype), ops::convert(g, value_of(b), dtype),
                                 {{}, {}, {a.dim() - 1}, {rows}}));
  }
  const bool is_vector = a.dim() == 1;
  if (is_vector) a = unsqueeze(a, 0);
  Shape shape_a(a.shape().begin(), a.shape().end() - 2), shape_b(b.shape().begin(), b.shape().end() - 2);
  shape_a = shape_b = broadcast_shape(shape_a, shape_b, "matmul");
  std::vector<int64_t> batch(shape_a.size());
  std::iota(batch.begin(), batch.end(), 0);
  const auto rank = static_cast<int64_t>(batch.size()) + 2;
  shape_a.insert(shape_a.end(), a.shape().end() - 2, a.shape().end());
  shape_b.insert(shape_b.end(), b.shape().end() - 2, b.shape().end());
  const Tensor product = wrap(ops::dot_general(g, broadcast(a, dtype, shape_a), broadcast(b, dtype, shape_b),
                                               {batch, batch, {rank - 1}, {rank - 2}}));
  return is_vector ? squeeze(product, -2) : product;
}

// x W^T + b
Tensor linear(const In& x, const Tensor& weight, const Tensor& bias) {
  const Scope scope(x.at);
  if (x.tensor.dim() == 0 || weight.dim() != 2 || x.tensor.size(-1) != weight.size(1)) {
    fail(fmt::format("linear: the last size of the input {} must be {}, the number of columns of the weight {}",
                     to_string(x.tensor.type()), weight.size(1), to_string(weight.type())));
  }
  GraphBuilder& g = builder();
  const DType dtype = wider_dtype(x.tensor.dtype(), weight.dtype());
  const Tensor product =
      wrap(ops::dot_general(g, ops::convert(g, value_of(x.tensor), dtype), ops::convert(g, value_of(weight), dtype),
                            {{}, {}, {x.tensor.dim() - 1}, {1}}));
  return bias.defined() ? product + bias : product;
}

}  // namespace ingot
