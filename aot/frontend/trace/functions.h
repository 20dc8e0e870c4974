// Functions of tensors, with PyTorch's names and meaning. Broadcasting and type promotion are PyTorch's: numbers and
// scalars (rank 0) do not widen a tensor of the same class. Everything is functional.
#pragma once

#include <optional>

#include "aot/frontend/trace/tensor.h"

namespace ingot {

// --- elementwise (elementwise.cc) ------------------------------------------------------------------------------------
Tensor operator+(const In& a, const In& b);
Tensor operator-(const In& a, const In& b);
Tensor operator*(const In& a, const In& b);
Tensor operator/(const In& a, const In& b);  // of integers: f32, as in Python
Tensor operator-(const In& x);
Tensor operator<(const In& a, const In& b);
Tensor operator<=(const In& a, const In& b);
Tensor operator>(const In& a, const In& b);
Tensor operator>=(const In& a, const In& b);
Tensor operator==(const In& a, const In& b);
Tensor operator!=(const In& a, const In& b);
Tensor operator&(const In& a, const In& b);  // of truth values or integers
Tensor operator|(const In& a, const In& b);
Tensor operator^(const In& a, const In& b);
Tensor operator~(const In& x);
Tensor operator<<(const In& x, int64_t bits);  // of integers
Tensor operator>>(const In& x, int64_t bits);  // zeros move in, or copies of the sign of signed ones
Tensor maximum(const In& a, const Tensor& b);  // NaN wins
Tensor minimum(const In& a, const Tensor& b);
Tensor pow(const In& base, const Tensor& exponent);
Tensor remainder(const In& a, const Tensor& b);  // of C: the sign of a
Tensor where(const In& condition, const Tensor& a, const Tensor& b);
Tensor clamp(const In& x, const Tensor& low, const Tensor& high);  // either bound may be a Tensor() without value
Tensor to(const In& x, DType dtype);
Tensor bitcast(const In& x, DType dtype);  // the same bits, of another type as wide: x.view(dtype)
Tensor detach(const In& x);

Tensor exp(const In& x);
Tensor expm1(const In& x);
Tensor log(const In& x);
Tensor log1p(const In& x);
Tensor sqrt(const In& x);
Tensor rsqrt(const In& x);
Tensor abs(const In& x);
Tensor sign(const In& x);
Tensor floor(const In& x);
Tensor ceil(const In& x);
Tensor sin(const In& x);
Tensor cos(const In& x);
Tensor tanh(const In& x);
Tensor erf(const In& x);
Tensor square(const In& x);
Tensor reciprocal(const In& x);

// --- activations (activations.cc) ------------------------------------------------------------------------------------
Tensor relu(const In& x);
Tensor sigmoid(const In& x);
Tensor silu(const In& x);
Tensor gelu(const In& x, const std::string& approximate = "none");  // "none": x/2 (1 + erf(x/sqrt 2)); "tanh"
Tensor leaky_relu(const In& x, double negative_slope = 0.01);
Tensor elu(const In& x, double alpha = 1);
Tensor softplus(const In& x, double beta = 1);  // log(1 + exp(beta x)) / beta, without overflow
Tensor logsigmoid(const In& x);
Tensor softmax(const In& x, int64_t dim);
Tensor log_softmax(const In& x, int64_t dim);
Tensor logsumexp(const In& x, int64_t dim, bool keepdim = false);

// --- reductions (reductions.cc): over all dimensions when `dims` is empty --------------------------------------------
Tensor sum(const In& x, const Dims& dims = {}, bool keepdim = false);
Tensor mean(const In& x, const Dims& dims = {}, bool keepdim = false);
Tensor var(const In& x, const Dims& dims = {}, int64_t correction = 1, bool keepdim = false);
Tensor amax(const In& x, const Dims& dims = {}, bool keepdim = false);
Tensor amin(const In& x, const Dims& dims = {}, bool keepdim = false);
Tensor argmax(const In& x, int64_t dim, bool keepdim = false);  // i32; the first of equals, NaN is the largest

// --- shape (shape.cc) ------------------------------------------------------------------------------------------------
Tensor reshape(const In& x, const Dims& shape);  // one -1 is inferred
Tensor flatten(const In& x, int64_t start_dim = 0, int64_t end_dim = -1);
Tensor transpose(const In& x, int64_t dim0, int64_t dim1);
Tensor permute(const In& x, const Dims& dims);
Tensor unsqueeze(const In& x, int64_t dim);
Tensor squeeze(const In& x, int64_t dim);
Tensor expand(const In& x, const Dims& shape);  // -1 keeps a size
Tensor cat(const std::vector<Tensor>& xs, int64_t dim = 0, Where at = Where::current());
Tensor stack(const std::vector<Tensor>& xs, int64_t dim = 0, Where at = Where::current());
Tensor slice(const In& x, int64_t dim, int64_t start, int64_t end, int64_t step = 1);  // Python's x[start:end:step]
Tensor select(const In& x, int64_t dim, int64_t index);
std::vector<Tensor> split(const In& x, int64_t split_size, int64_t dim = 0);
std::vector<Tensor> chunk(const In& x, int64_t chunks, int64_t dim = 0);
Tensor flip(const In& x, const Dims& dims);
Tensor pad(const In& x, const Dims& padding,
           double value = 0);  // last dimension first: {left, right, top, bottom, ...}

// --- making and indexing (indexing.cc) -------------------------------------------------------------------------------
Tensor full(const Dims& shape, const Tensor& value, DType dtype = DType::kF32, Where at = Where::current());
Tensor zeros(const Dims& shape, DType dtype = DType::kF32, Where at = Where::current());
Tensor ones(const Dims& shape, DType dtype = DType::kF32, Where at = Where::current());
Tensor zeros_like(const In& x);
Tensor ones_like(const In& x);
Tensor arange(int64_t end, DType dtype = DType::kI32, Where at = Where::current());
Tensor tril(const In& x, int64_t diagonal = 0);
Tensor triu(const In& x, int64_t diagonal = 0);
Tensor one_hot(const In& labels, int64_t num_classes, DType dtype = DType::kI32);
Tensor masked_fill(const In& x, const Tensor& mask, const Tensor& value);
Tensor index_select(const In& x, int64_t dim, const Tensor& index);  // index [n]
Tensor gather(const In& x, int64_t dim, const Tensor& index);        // as torch.gather: index has the rank of x
Tensor embedding(const In& ids, const Tensor& weight, std::optional<int64_t> padding_idx = {});  // ids of any shape

// --- products (products.cc) ------------------------------------------------------------------------------------------
Tensor matmul(const In& a, const Tensor& b);  // vectors, matrices, batches with broadcasting
Tensor linear(const In& x, const Tensor& weight, const Tensor& bias = {});  // x [..., in], weight [out, in], bias [out]

// --- windows (windows.cc): NCHW, sizes as {height, width} or one number for both -------------------------------------
struct Conv2dOptions {
  Dims stride = 1;
  Dims padding = 0;
  Dims dilation = 1;
  int64_t groups = 1;
  bool same = false;  // pad so that the output has the input's size; stride 1
};
// x [N, C, H, W], weight [O, C/groups, kh, kw], bias [O].
Tensor conv2d(const In& x, const Tensor& weight, const Tensor& bias = {}, const Conv2dOptions& options = {});
struct Pool2dOptions {
  Dims stride = {};  // empty: the kernel's size
  Dims padding = 0;
  Dims dilation = 1;  // max_pool2d
  bool ceil_mode = false;
  bool count_include_pad = true;  // avg_pool2d
};
Tensor max_pool2d(const In& x, const Dims& kernel_size, const Pool2dOptions& options = {});
Tensor avg_pool2d(const In& x, const Dims& kernel_size, const Pool2dOptions& options = {});
Tensor adaptive_avg_pool2d(const In& x, const Dims& output_size);  // any size up to the input's

// --- normalisation (normalization.cc) --------------------------------------------------------------------------------
Tensor layer_norm(const In& x, const Dims& normalized_shape, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);

// --- losses (losses.cc) ----------------------------------------------------------------------------------------------
struct CrossEntropyOptions {
  std::string reduction = "mean";  // "mean" over what is not ignored, "sum", "none"
  int64_t ignore_index = -100;
  double label_smoothing = 0;
};
// logits [N, C] or [N, C, ...]; target: class numbers [N, ...], or probabilities of the shape of the logits.
Tensor cross_entropy(const In& logits, const Tensor& target, const CrossEntropyOptions& options = {});
Tensor nll_loss(const In& log_probabilities, const Tensor& target, const CrossEntropyOptions& options = {});
Tensor mse_loss(const In& input, const Tensor& target, const std::string& reduction = "mean");
Tensor l1_loss(const In& input, const Tensor& target, const std::string& reduction = "mean");
Tensor binary_cross_entropy_with_logits(const In& logits, const Tensor& target, const std::string& reduction = "mean");

// --- random numbers (random.cc): Philox4x32-10, a function of (seed, call, step, element) alone
// ----------------------------------- Zeroes elements with probability p and scales the rest by 1/(1-p). Each call in
// an entry point has its own stream, each run its own step: state "rng.seed" and "rng.step".
Tensor dropout(const In& x, double p = 0.5, bool training = true);

}  // namespace ingot
