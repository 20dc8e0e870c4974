// Convolution and pooling over two dimensions, NCHW.
#include <fmt/format.h>

#include <limits>

#include "aot/base/divide.h"
#include "aot/frontend/trace/broadcast.h"
#include "aot/frontend/trace/functions.h"

namespace ingot {
namespace {

struct TwoSizes {
  int64_t height, width;
};

TwoSizes two(const Dims& sizes, const char* what, int64_t least) {
  if (sizes.size() != 1 && sizes.size() != 2) fail(fmt::format("{}: one size or two", what));
  const TwoSizes result{sizes.front(), sizes.back()};
  if (result.height < least || result.width < least) fail(fmt::format("{}: sizes must be at least {}", what, least));
  return result;
}

void check_image(const Tensor& x, const char* function) {
  if (x.dim() != 4) fail(fmt::format("{}: {} is not [batch, channels, height, width]", function, to_string(x.type())));
}

// {{low, high}, ...} as dense<...> of i64, two columns.
LiteralRef pairs(const std::vector<int64_t>& values) {
  const LiteralRef flat = dense_ints(values);
  return dense({DType::kI64, {static_cast<int64_t>(values.size()) / 2, 2}}, flat->data);
}

// One spatial dimension of a pooling window.
struct Span {
  int64_t size, kernel, stride, padding, dilation, high, count;  // high: the padding after; count: the output's size
};

// With ceil_mode a last window may hang over the end, unless it would start in the padding.
Span span_of(int64_t size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation, bool ceil_mode,
             const char* function) {
  const int64_t reach = dilation * (kernel - 1) + 1;
  const int64_t room = size + 2 * padding - reach;
  if (room < 0)
    fail(fmt::format("{}: a window of {} is larger than the padded input, {}", function, reach, size + 2 * padding));
  if (2 * padding > kernel)
    fail(fmt::format("{}: the padding {} is more than half of the kernel, {}", function, padding, kernel));
  int64_t count = (room + (ceil_mode ? stride - 1 : 0)) / stride + 1;
  if (ceil_mode && (count - 1) * stride >= size + padding) --count;
  const int64_t high = (count - 1) * stride + reach - size - padding;
  return {size, kernel, stride, padding, dilation, high, count};
}

struct Window {
  Span height, width;
};

Window window_of(const Tensor& x, const Dims& kernel_size, const Pool2dOptions& options, const char* function) {
  check_image(x, function);
  const TwoSizes kernel = two(kernel_size, "kernel_size", 1);
  const TwoSizes stride = two(options.stride.empty() ? kernel_size : options.stride, "stride", 1);
  const TwoSizes padding = two(options.padding, "padding", 0), dilation = two(options.dilation, "dilation", 1);
  return {
      span_of(x.size(2), kernel.height, stride.height, padding.height, dilation.height, options.ceil_mode, function),
      span_of(x.size(3), kernel.width, stride.width, padding.width, dilation.width, options.ceil_mode, function)};
}

// reduce_window wants the padding after an input to be what the last window reaches; negative padding crops.
Tensor reduce_window(const OpDef& op, Value* x, double start, const Window& w) {
  GraphBuilder& b = builder();
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(ops::binary_region(b, op, x->type.dtype));
  return wrap(
      b.create(kReduceWindow, {x, ops::constant(b, {x->type.dtype, {}}, start)},
               {{"window_dimensions", std::vector<int64_t>{1, 1, w.height.kernel, w.width.kernel}},
                {"window_strides", std::vector<int64_t>{1, 1, w.height.stride, w.width.stride}},
                {"base_dilations", std::vector<int64_t>{1, 1, 1, 1}},
                {"window_dilations", std::vector<int64_t>{1, 1, w.height.dilation, w.width.dilation}},
                {"padding", pairs({0, 0, 0, 0, w.height.padding, w.height.high, w.width.padding, w.width.high})}},
               {}, std::move(regions))
          ->result());
}

// How many elements of each window lie in [-margin, size + margin).
std::vector<double> window_counts(const Span& span, int64_t margin) {
  std::vector<double> counts;
  for (int64_t i = 0; i < span.count; ++i) {
    const int64_t from = std::max(i * span.stride - span.padding, -margin);
    const int64_t to = std::min(i * span.stride - span.padding + span.kernel, span.size + margin);
    counts.push_back(static_cast<double>(to - from));
  }
  return counts;
}

bool all_equal(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [&](double value) { return value == values[0]; });
}

Tensor constant_row(const std::vector<double>& values, DType dtype, const Dims& shape) {
  std::vector<std::byte> data(values.size() * info(dtype).bytes);
  for (size_t i = 0; i < values.size(); ++i) store_float(dtype, values[i], data.data() + i * info(dtype).bytes);
  return wrap(ops::constant(builder(), dense({dtype, shape}, std::move(data))));
}

}  // namespace

Tensor conv2d(const In& in, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options) {
  const Scope scope(in.at);
  const Tensor& x = in.tensor;
  check_image(x, "conv2d");
  if (weight.dim() != 4)
    fail(fmt::format("conv2d: the weight {} is not [out, in/groups, kh, kw]", to_string(weight.type())));
  const TwoSizes stride = two(options.stride, "conv2d: stride", 1),
                 dilation = two(options.dilation, "conv2d: dilation", 1);
  const TwoSizes padding = two(options.padding, "conv2d: padding", 0);
  const int64_t groups = options.groups;
  if (groups < 1 || x.size(1) != weight.size(1) * groups || weight.size(0) % groups != 0) {
    fail(fmt::format("conv2d: {} channels, a weight {} and {} groups do not fit", x.size(1), to_string(weight.type()),
                     groups));
  }
  std::vector<int64_t> pads{padding.height, padding.height, padding.width, padding.width};
  if (options.same) {
    if (stride.height != 1 || stride.width != 1) fail("conv2d: padding 'same' needs a stride of 1");
    const int64_t height = dilation.height * (weight.size(2) - 1), width = dilation.width * (weight.size(3) - 1);
    pads = {height / 2, height - height / 2, width / 2, width - width / 2};
  }
  GraphBuilder& b = builder();
  const DType dtype = wider_dtype(x.dtype(), weight.dtype());
  const std::vector<int64_t> spatial{2, 3};
  DictAttr numbers{"stablehlo.conv",
                   {{"input_batch_dimension", IntAttr{0}},
                    {"input_feature_dimension", IntAttr{1}},
                    {"input_spatial_dimensions", spatial},
                    {"kernel_output_feature_dimension", IntAttr{0}},
                    {"kernel_input_feature_dimension", IntAttr{1}},
                    {"kernel_spatial_dimensions", spatial},
                    {"output_batch_dimension", IntAttr{0}},
                    {"output_feature_dimension", IntAttr{1}},
                    {"output_spatial_dimensions", spatial}}};
  const Tensor y =
      wrap(b.make(kConvolution, {ops::convert(b, value_of(x), dtype), ops::convert(b, value_of(weight), dtype)},
                  {{"dimension_numbers", std::move(numbers)},
                   {"window_strides", std::vector<int64_t>{stride.height, stride.width}},
                   {"padding", pairs(pads)},
                   {"lhs_dilation", std::vector<int64_t>{1, 1}},
                   {"rhs_dilation", std::vector<int64_t>{dilation.height, dilation.width}},
                   {"feature_group_count", IntAttr{groups}},
                   {"batch_group_count", IntAttr{1}}}));
  return bias.defined() ? y + reshape(bias, {-1, 1, 1}) : y;
}

Tensor max_pool2d(const In& x, const Dims& kernel_size, const Pool2dOptions& options) {
  const Scope scope(x.at);
  const Window window = window_of(x.tensor, kernel_size, options, "max_pool2d");
  return reduce_window(kMaximum, float_value(x.tensor), -std::numeric_limits<double>::infinity(), window);
}

// The sum of each window by its count: of all its elements within the padded input, or without the padding.
Tensor avg_pool2d(const In& in, const Dims& kernel_size, const Pool2dOptions& options) {
  const Scope scope(in.at);
  if (two(options.dilation, "avg_pool2d: dilation", 1).height != 1) fail("avg_pool2d: has no dilation");
  const Window window = window_of(in.tensor, kernel_size, options, "avg_pool2d");
  const Tensor x = wrap(float_value(in.tensor));
  const Tensor total = reduce_window(kAdd, value_of(x), 0, window);
  const auto rows = window_counts(window.height, options.count_include_pad ? window.height.padding : 0);
  const auto columns = window_counts(window.width, options.count_include_pad ? window.width.padding : 0);
  if (all_equal(rows) && all_equal(columns)) return total / (rows[0] * columns[0]);
  return total / (constant_row(rows, x.dtype(), {window.height.count, 1}) *
                  constant_row(columns, x.dtype(), {window.width.count}));
}

Tensor adaptive_avg_pool2d(const In& in, const Dims& output_size) {
  const Scope scope(in.at);
  const Tensor& x = in.tensor;
  check_image(x, "adaptive_avg_pool2d");
  const TwoSizes out = two(output_size, "adaptive_avg_pool2d: output_size", 1);
  if (out.height == 1 && out.width == 1) return mean(x, {2, 3}, true);
  // Output i averages inputs [floor(i n / out), ceil((i + 1) n / out)): a product with a matrix of 0 and 1/count.
  const auto weights = [&](int64_t n, int64_t m) {
    std::vector<double> values(static_cast<size_t>(n * m), 0.0);
    for (int64_t i = 0; i < m; ++i) {
      const int64_t from = i * n / m, to = divide_up((i + 1) * n, m);
      for (int64_t k = from; k < to; ++k) values[k * m + i] = 1.0 / static_cast<double>(to - from);
    }
    return constant_row(values, x.dtype(), {n, m});
  };
  const Tensor by_width = matmul(x, weights(x.size(3), out.width));
  return transpose(matmul(transpose(by_width, 2, 3), weights(x.size(2), out.height)), 2, 3);
}

}  // namespace ingot
