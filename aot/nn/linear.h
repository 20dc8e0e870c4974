// Layers that are a product with a weight.
#pragma once

#include <optional>

#include "aot/frontend/trace/functions.h"
#include "aot/nn/module.h"

namespace ingot::nn {

// y = x W^T + b;  x [..., in], weight [out, in], bias [out]. Starts uniform in +-1/sqrt(in), as PyTorch's.
class Linear : public Module {
 public:
  struct Options {
    bool bias = true;
    DType dtype = DType::kF32;
  };
  Linear(int64_t in_features, int64_t out_features, const Options& options);
  Linear(int64_t in_features, int64_t out_features) : Linear(in_features, out_features, Options()) {}
  Tensor forward(const Tensor& x) override;

  Tensor weight, bias;
};

// Rows of a table: ids of any shape -> [..., embedding_dim]. Starts normal(0, 1);
// row padding_idx starts at 0 and stays.
class Embedding : public Module {
 public:
  struct Options {
    std::optional<int64_t> padding_idx = {};
    DType dtype = DType::kF32;
  };
  Embedding(int64_t num_embeddings, int64_t embedding_dim, const Options& options);
  Embedding(int64_t num_embeddings, int64_t embedding_dim) : Embedding(num_embeddings, embedding_dim, Options()) {}
  Tensor forward(const Tensor& ids) override;

  Tensor weight;

 private:
  std::optional<int64_t> padding_idx_;
};

}  // namespace ingot::nn
