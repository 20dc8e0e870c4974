// stablehlo.convolution: a kernel slid over an input. The gradients are in convolution_gradient.cc.
#include <fmt/format.h>

#include "aot/loops/contraction.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/contraction.h"
#include "aot/ops/support/convolution_gradient.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::convolution_op {
namespace {

using ops::ConvDims;
using ops::Convolution;

std::vector<int64_t> all_dims(int64_t a, int64_t b, const std::vector<int64_t>& spatial) {
  std::vector<int64_t> dims{a, b};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return dims;
}

void check_divides(const InferArgs& args, std::string_view groups, int64_t count, std::string_view what,
                   int64_t extent) {
  if (extent % count != 0) args.fail(fmt::format("{} = {} does not divide the {} {}", groups, count, extent, what));
}

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 2);
  ops::check_unsigned_bytes(args);
  const TensorType& x = args.operands[0];
  const TensorType& kernel = args.operands[1];
  const int rank = x.rank();
  if (kernel.rank() != rank || rank < 2) {
    args.fail(fmt::format("{} and {} must have one rank, at least 2", to_string(x), to_string(kernel)));
  }
  const Convolution conv = ops::read_convolution(args.attrs(), kernel.shape);
  const ConvDims& d = conv.dims;
  const std::vector<int64_t> input = all_dims(d.input_batch, d.input_feature, d.input_spatial);
  const std::vector<int64_t> weights = all_dims(d.kernel_input_feature, d.kernel_output_feature, d.kernel_spatial);
  const std::vector<int64_t> output = all_dims(d.output_batch, d.output_feature, d.output_spatial);
  for (const auto& [what, dims] :
       {std::pair{"input dimensions", &input}, {"kernel dimensions", &weights}, {"output dimensions", &output}}) {
    ops::check_one_each(args, what, *dims, rank);
    ops::check_dims(args, what, *dims, rank);
  }
  for (const char* name : {"window_strides", "lhs_dilation", "rhs_dilation", "window_reversal"}) {
    if (args.attrs().has(name)) ops::check_one_each(args, name, args.attrs().ints(name), rank - 2);
  }
  for (int64_t dim : d.kernel_spatial) {
    if (kernel.shape[dim] == 0)
      args.fail(fmt::format("the kernel {} has no elements in dimension {}", to_string(kernel), dim));
  }
  ops::check_window(args, conv.window, rank - 2);

  if (conv.feature_groups < 1 || conv.batch_groups < 1 || (conv.feature_groups > 1 && conv.batch_groups > 1)) {
    args.fail(fmt::format("feature_group_count = {} and batch_group_count = {} must be at least 1, and one of them 1",
                          conv.feature_groups, conv.batch_groups));
  }
  const int64_t batch = x.shape[d.input_batch], features = x.shape[d.input_feature];
  const int64_t outputs = kernel.shape[d.kernel_output_feature];
  check_divides(args, "feature_group_count", conv.feature_groups, "input features", features);
  check_divides(args, "feature_group_count", conv.feature_groups, "output features", outputs);
  check_divides(args, "batch_group_count", conv.batch_groups, "input batches", batch);
  check_divides(args, "batch_group_count", conv.batch_groups, "output features", outputs);
  if (kernel.shape[d.kernel_input_feature] != features / conv.feature_groups) {
    args.fail(
        fmt::format("the kernel {} takes {} input features (dimension {}), the input {} has {} in each of {} groups",
                    to_string(kernel), kernel.shape[d.kernel_input_feature], d.kernel_input_feature, to_string(x),
                    features / conv.feature_groups, conv.feature_groups));
  }
  TensorType result{ops::product_dtype(args), Shape(rank)};
  result.shape[d.output_batch] = batch / conv.batch_groups;
  result.shape[d.output_feature] = outputs;
  const Shape spatial = ops::positions(conv.window, ops::extents(x.shape, d.input_spatial));
  for (size_t k = 0; k < spatial.size(); ++k) result.shape[d.output_spatial[k]] = spatial[k];
  return {result};
}

// Where a kernel element meets the input at one output position: linear offsets of their spatial indices.
struct Tap {
  int64_t input, kernel;
};

std::vector<Tap> taps_at(const ops::Window& window, const Shape& position, const Shape& extents,
                         const Shape& input_strides, const Shape& kernel_strides) {
  std::vector<Tap> taps;
  ops::for_each_index(ops::sizes(window), [&](const Shape& offset, int64_t) {
    Tap tap{0, 0};
    for (size_t d = 0; d < window.size(); ++d) {
      const int64_t at = window[d].source(position[d], offset[d], extents[d]);
      if (at < 0) return;
      tap.input += at * input_strides[d];
      tap.kernel += (window[d].reversed ? window[d].size - 1 - offset[d] : offset[d]) * kernel_strides[d];
    }
    taps.push_back(tap);
  });
  return taps;
}

// out[b, o, p] = sum over taps and input features of the group of input[b', c', tap] * kernel[o, c, tap]
template <typename T, typename Sum>
void convolve(const EvaluateArgs& args, const std::vector<T>& input, const std::vector<T>& kernel,
              std::vector<Sum>& out) {
  const Shape& x = args.inputs[0].type.shape;
  const Shape& w = args.inputs[1].type.shape;
  const Shape& y = args.result_type().shape;
  const Convolution conv = ops::read_convolution(args.attrs(), w);
  const ConvDims& d = conv.dims;
  const Shape xs = row_major_strides(x), ws = row_major_strides(w), ys = row_major_strides(y);
  const int64_t features = w[d.kernel_input_feature];  // of one group
  const int64_t outputs = w[d.kernel_output_feature] / (conv.feature_groups * conv.batch_groups);
  const Shape y_spatial = ops::extents(ys, d.output_spatial);
  const ops::MultiplyAdd multiply_add(args);

  ops::for_each_index(ops::extents(y, d.output_spatial), [&](const Shape& position, int64_t) {
    const std::vector<Tap> taps = taps_at(conv.window, position, ops::extents(x, d.input_spatial),
                                          ops::extents(xs, d.input_spatial), ops::extents(ws, d.kernel_spatial));
    for (int64_t b = 0; b < y[d.output_batch]; ++b) {
      for (int64_t o = 0; o < y[d.output_feature]; ++o) {
        const int64_t group = o / outputs;
        const int64_t batch = conv.batch_groups > 1 ? group * y[d.output_batch] + b : b;
        const int64_t first_feature = conv.feature_groups > 1 ? group * features : 0;
        const int64_t from = batch * xs[d.input_batch] + first_feature * xs[d.input_feature];
        Sum sum{};
        for (const Tap& tap : taps) {
          const int64_t a = from + tap.input, k = o * ws[d.kernel_output_feature] + tap.kernel;
          for (int64_t c = 0; c < features; ++c) {
            multiply_add(sum, input[a + c * xs[d.input_feature]], kernel[k + c * ws[d.kernel_input_feature]]);
          }
        }
        out[linear_index(position, y_spatial) + b * ys[d.output_batch] + o * ys[d.output_feature]] = sum;
      }
    }
  });
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  return ops::sums_of_products(args, [](auto&&... operands) { convolve(operands...); });
}

// M: output batch and positions. N: output features of a group. K: input features of a group and kernel positions.
// Groups are a batch dimension. The input's place at position p and kernel place k is p * stride + k * dilation - low,
// in units of 1 / base_dilation; a reversed window reads the kernel backwards.
loops::Contraction contraction(const Op& op) {
  using Kind = loops::ContractionDim::Kind;
  const Shape& x = op.operand(0)->type.shape;
  const Shape& w = op.operand(1)->type.shape;
  const Shape& y = op.result()->type.shape;
  const Convolution conv = ops::read_convolution(op.attrs(), w);
  const ConvDims& d = conv.dims;
  const int64_t groups = conv.feature_groups * conv.batch_groups;
  const int64_t outputs = w[d.kernel_output_feature] / groups, features = w[d.kernel_input_feature];

  loops::Contraction c;
  c.accumulate = ops::accumulate_dtype(op.result()->type.dtype);
  c.unsigned_bytes = ops::unsigned_bytes(op);
  c.multiplies_pairs = ops::multiplies_pairs(op);
  c.lhs.resize(x.size());
  c.rhs.resize(w.size());
  c.out.resize(y.size());
  const size_t iteration_rank = (groups > 1 ? 1 : 0) + 3 + 2 * conv.window.size();
  for (auto* accesses : {&c.lhs, &c.rhs, &c.out}) {
    for (AxisMap& access : *accesses) access.coefficients.resize(iteration_rank);
  }

  if (groups > 1) {
    const int g = ops::add_dim(c, Kind::kBatch, groups);
    (conv.batch_groups > 1 ? c.lhs[d.input_batch].coefficients : c.lhs[d.input_feature].coefficients)[g] =
        conv.batch_groups > 1 ? y[d.output_batch] : features;
    c.rhs[d.kernel_output_feature].coefficients[g] = outputs;
    c.out[d.output_feature].coefficients[g] = outputs;
  }
  const int b = ops::add_dim(c, Kind::kM, y[d.output_batch]);
  c.lhs[d.input_batch].coefficients[b] = c.out[d.output_batch].coefficients[b] = 1;
  for (size_t k = 0; k < conv.window.size(); ++k) {
    const int p = ops::add_dim(c, Kind::kM, y[d.output_spatial[k]]);
    c.out[d.output_spatial[k]].coefficients[p] = 1;
    AxisMap& place = c.lhs[d.input_spatial[k]];
    place.coefficients[p] = conv.window[k].stride;
    place.constant = -conv.window[k].low;
    place.divisor = conv.window[k].base_dilation;
  }
  const int o = ops::add_dim(c, Kind::kN, outputs);
  c.rhs[d.kernel_output_feature].coefficients[o] = c.out[d.output_feature].coefficients[o] = 1;
  const int i = ops::add_dim(c, Kind::kK, features);
  c.lhs[d.input_feature].coefficients[i] = c.rhs[d.kernel_input_feature].coefficients[i] = 1;
  for (size_t k = 0; k < conv.window.size(); ++k) {
    const int q = ops::add_dim(c, Kind::kK, conv.window[k].size);
    c.lhs[d.input_spatial[k]].coefficients[q] = conv.window[k].dilation;
    AxisMap& place = c.rhs[d.kernel_spatial[k]];
    place.coefficients[q] = conv.window[k].reversed ? -1 : 1;
    place.constant = conv.window[k].reversed ? conv.window[k].size - 1 : 0;
  }
  ops::finish(c, x, w, y);
  return c;
}

std::vector<Sample> samples() {
  struct Case {
    std::string x, w, numbers, window, groups, y;
  };
  const auto convolution = [](const Case& c) {
    return Sample{.text = ops::single_op("%x: " + c.x + ", %w: " + c.w,
                                         "stablehlo.convolution(%x, %w) dim_numbers = " + c.numbers + ", window = {" +
                                             c.window + "} {" + c.groups + "} : (" + c.x + ", " + c.w + ") -> " + c.y,
                                         c.y)};
  };
  const std::string nchw = "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]", nhwc = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]";
  const std::string no_groups = "batch_group_count = 1 : i64, feature_group_count = 1 : i64";
  const Case cases[] = {
      {"tensor<2x3x7x6xf32>", "tensor<4x3x3x3xf32>", nchw, "stride = [1, 1], pad = [[0, 0], [0, 0]]", no_groups,
       "tensor<2x4x5x4xf32>"},
      {"tensor<2x7x6x3xf32>", "tensor<3x3x3x8xf32>", nhwc, "stride = [2, 1], pad = [[1, 1], [2, 0]]", no_groups,
       "tensor<2x4x6x8xf32>"},
      {"tensor<1x5x6x2xf32>", "tensor<2x3x2x3xf32>", nhwc,
       "stride = [1, 2], pad = [[-1, 2], [1, -1]], lhs_dilate = [2, 1], rhs_dilate = [1, 2], reverse = [true, false]",
       no_groups, "tensor<1x9x1x3xf32>"},
      {"tensor<2x4x5x5xf32>", "tensor<6x2x3x3xf32>", nchw, "pad = [[1, 1], [1, 1]]",
       "batch_group_count = 1 : i64, feature_group_count = 2 : i64", "tensor<2x6x5x5xf32>"},
      {"tensor<2x4x5x5xf32>", "tensor<4x1x3x3xf32>", nchw, "pad = [[1, 1], [1, 1]], reverse = [true, true]",
       "batch_group_count = 1 : i64, feature_group_count = 4 : i64", "tensor<2x4x5x5xf32>"},
      {"tensor<4x3x5x5xf32>", "tensor<6x3x2x2xf32>", nchw, "stride = [2, 2]",
       "batch_group_count = 2 : i64, feature_group_count = 1 : i64", "tensor<2x6x2x2xf32>"},
      {"tensor<3x4x9xf64>", "tensor<3x3x5xf64>", "[f, b, 0]x[0, i, o]->[0, b, f]", "pad = [[0, 1]], rhs_dilate = [2]",
       no_groups, "tensor<6x4x5xf64>"},
      {"tensor<1x2x6xcomplex<f32>>", "tensor<3x2x2xcomplex<f32>>", "[b, f, 0]x[o, i, 0]->[b, f, 0]", "", no_groups,
       "tensor<1x3x5xcomplex<f32>>"},
      {"tensor<2x3xf32>", "tensor<4x3xf32>", "[b, f]x[o, i]->[b, f]", "", no_groups, "tensor<2x4xf32>"},
      {"tensor<1x4x3x3x2xf32>", "tensor<2x2x2x2x3xf32>", "[b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f]", "",
       no_groups, "tensor<1x3x2x2x3xf32>"},
      {"tensor<1x2x4xbf16>", "tensor<3x2x2xbf16>", "[b, f, 0]x[o, i, 0]->[b, f, 0]", "", no_groups,
       "tensor<1x3x3xbf16>"},
      {"tensor<1x2x4xi32>", "tensor<3x2x2xi32>", "[b, f, 0]x[o, i, 0]->[b, f, 0]", "", no_groups, "tensor<1x3x3xi32>"},
      {"tensor<1x3x5xi32>", "tensor<4x3x2xi32>", "[b, f, 0]x[o, i, 0]->[b, f, 0]", "pad = [[1, 0]]",
       no_groups + ", ingot.unsigned_bytes = 0 : i64", "tensor<1x4x5xi32>"},
      {"tensor<0x2x4xf32>", "tensor<3x2x2xf32>", "[b, f, 0]x[o, i, 0]->[b, f, 0]", "", no_groups, "tensor<0x3x3xf32>"},
      {"tensor<1x2x3xf32>", "tensor<3x2x5xf32>", "[b, f, 0]x[o, i, 0]->[b, f, 0]", "", no_groups, "tensor<1x3x0xf32>"},
  };
  std::vector<Sample> result;
  for (const Case& c : cases) result.push_back(convolution(c));
  return result;
}

}  // namespace

extern const OpDef kConvolution = {
    .name = "stablehlo.convolution",
    .doc = "Sums of products of the input under each position of a window with the kernel, over features and window.",
    .assembly =
        "`(` operands `)` `dim_numbers` `=` custom(conv_dims) `,` `window` `=` custom(conv_window) attr-dict "
        ":functional",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = ops::convolution_gradient,
    .split = ops::split_product,
    .samples = samples,
    .root = KernelRoot::kContraction,
    .contraction = contraction,
    .ulp = {.f32 = 4, .f64 = 2},
    .mixes_float_and_quantized = true,
};

}  // namespace ingot::convolution_op
