#include "aot/nn/linear.h"

#include <cmath>

namespace ingot::nn {

// kaiming_uniform(a = sqrt 5) of a weight with `in` inputs is uniform in +-1/sqrt(in). He et al. 2015.
Linear::Linear(int64_t in_features, int64_t out_features, const Options& options) {
  const double bound = in_features > 0 ? 1 / std::sqrt(static_cast<double>(in_features)) : 0;
  weight = register_parameter("weight", {options.dtype, {out_features, in_features}}, init::uniform(-bound, bound));
  if (options.bias) bias = register_parameter("bias", {options.dtype, {out_features}}, init::uniform(-bound, bound));
}

Tensor Linear::forward(const Tensor& x) { return linear(x, weight, bias); }

Embedding::Embedding(int64_t num_embeddings, int64_t embedding_dim, const Options& options)
    : padding_idx_(options.padding_idx) {
  Initializer initializer = init::normal();
  if (padding_idx_) {
    const int64_t row = *padding_idx_ < 0 ? *padding_idx_ + num_embeddings : *padding_idx_;
    initializer = [row, drawn = std::move(initializer)](const InitArgs& args) {
      const Tensor is_padding = arange(args.type.shape[0]) == row;
      return where(unsqueeze(is_padding, 1), 0, drawn(args));
    };
  }
  weight = register_parameter("weight", {options.dtype, {num_embeddings, embedding_dim}}, std::move(initializer));
}

Tensor Embedding::forward(const Tensor& ids) { return embedding(ids, weight, padding_idx_); }

}  // namespace ingot::nn
