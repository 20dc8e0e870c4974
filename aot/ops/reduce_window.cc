// stablehlo.reduce_window: combines the elements in each position of a sliding window by a region. Padding and the
// holes of a dilated operand hold the start value.
#include "aot/ops/support/axes.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/reduce_window_gradient.h"
#include "aot/ops/support/region.h"
#include "aot/ops/support/samples.h"

namespace ingot::reduce_window_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  const size_t count = ops::check_reduction_operands(args);
  const TensorType& x = args.operands[0];
  const ops::Window window = ops::read_window(args.attrs());
  ops::check_window(args, window, x.rank());
  return ops::combined(args, count, ops::positions(window, x.shape));
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const size_t count = args.inputs.size() / 2;
  const std::span<const RefTensor> inputs = args.inputs.first(count), starts = args.inputs.subspan(count);
  const ops::Window window = ops::read_window(args.attrs());
  const Shape& x = inputs[0].type.shape;
  const Shape strides = row_major_strides(x), sizes = ops::sizes(window);
  std::vector<RefTensor> results;
  for (size_t k = 0; k < count; ++k) {
    results.push_back(ops::strided_copy(args.result_type(static_cast<int>(k)), starts[k], 0, Shape(x.size(), 0)));
  }
  const ops::RegionRunner region(args, args.op.region());
  ops::for_each_index(results[0].type.shape, [&](const Shape& position, int64_t to) {
    ops::for_each_index(sizes, [&](const Shape& offset, int64_t) {
      int64_t from = 0;
      for (size_t d = 0; d < window.size(); ++d) {
        const int64_t at = window[d].source(position[d], offset[d], x[d]);
        if (at < 0) return region.combine(results, to, starts, 0);
        from += at * strides[d];
      }
      region.combine(results, to, inputs, from);
    });
  });
  return results;
}

Sample window(const std::string& op, const std::string& dtype, const std::string& x, const std::string& attrs,
              const std::string& y, bool start_is_argument = false) {
  const std::string from = "tensor<" + x + dtype + ">", to = "tensor<" + y + dtype + ">",
                    scalar = "tensor<" + dtype + ">";
  const std::string start = op == "maximum"    ? "-1.0e+30"
                            : op == "minimum"  ? "1.0e+30"
                            : op == "multiply" ? "1.0"
                                               : "0.0";
  const std::string literal = dtype[0] == 'i'   ? start.substr(0, start.find('.'))
                              : dtype[0] == 'c' ? "(" + start + ", 0.0)"
                                                : start;
  const std::string constant = "%start = stablehlo.constant dense<" + literal + "> : " + scalar + "\n  ";
  return {.text = "func.func @main(%x: " + from + (start_is_argument ? ", %start: " + scalar : "") + ") -> " + to +
                  " {\n  " + (start_is_argument ? "" : constant) + "%0 = \"stablehlo.reduce_window\"(%x, %start) <{" +
                  attrs + "}> " + ops::scalar_region(op, dtype) + " : (" + from + ", " + scalar + ") -> " + to +
                  "\n  return %0 : " + to + "\n}\n",
          .differentiable = op != "subtract"};
}

std::vector<Sample> samples() {
  const Sample widening{.text =
                            "func.func @main(%x: tensor<9xi16>, %start: tensor<i32>) -> tensor<7xi32> {\n"
                            "  %0 = \"stablehlo.reduce_window\"(%x, %start) <{window_dimensions = array<i64: 3>}> " +
                            ops::scalar_region("add", "i32") +
                            " : (tensor<9xi16>, tensor<i32>) -> tensor<7xi32>\n  return %0 : tensor<7xi32>\n}\n"};
  const std::string padded =
      "base_dilations = array<i64: 2, 1>, padding = dense<[[-1, 1], [2, 1]]> : tensor<2x2xi64>, window_dilations = "
      "array<i64: 1, 2>, window_dimensions = array<i64: 4, 2>";
  return {
      window("add", "complex<f32>", "9x", "window_dimensions = array<i64: 3>", "7x"),
      window("multiply", "complex<f32>", "9x", "window_dimensions = array<i64: 3>", "7x"),
      window("add", "f32", "9x", "window_dimensions = array<i64: 3>", "7x"),
      window("add", "f32", "2x3x8x9x",
             "padding = dense<[[0, 0], [0, 0], [1, 1], [0, 1]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, "
             "1, 3, 2>, window_strides = array<i64: 1, 1, 2, 2>",
             "2x3x4x5x"),
      window(
          "add", "f64", "5x6x",
          "base_dilations = array<i64: 2, 1>, padding = dense<[[2, 1], [-1, 2]]> : tensor<2x2xi64>, window_dilations = "
          "array<i64: 3, 2>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>",
          "5x3x"),
      window("maximum", "f32", "2x8x8x3x",
             "window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>", "2x4x4x3x"),
      window("maximum", "f32", "1x2x7x7x",
             "padding = dense<[[0, 0], [0, 0], [1, 1], [1, 1]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, "
             "1, 3, 3>, window_strides = array<i64: 1, 1, 2, 2>",
             "1x2x4x4x"),
      window("minimum", "f32", "9x", "window_dimensions = array<i64: 4>, window_strides = array<i64: 2>", "3x"),
      window("add", "bf16", "9x", "window_dimensions = array<i64: 3>", "7x"),
      window("add", "i32", "9x", "padding = dense<[[8, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 9>",
             "9x"),
      widening,
      window("multiply", "f32", "5x", "window_dimensions = array<i64: 2>", "4x"),
      window("add", "f32", "2x2x3x",
             "padding = dense<[[1, 0], [0, 0], [0, 0]]> : tensor<3x2xi64>, window_dimensions = array<i64: 2, 1, 1>",
             "2x2x3x"),
      window("add", "f32", "3x5x1x5x",
             "padding = dense<[[0, 0], [0, 0], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, "
             "1, 1, 1>",
             "3x5x2x5x"),
      window("maximum", "f32", "9x", "window_dilations = array<i64: 3>, window_dimensions = array<i64: 2>", "6x"),
      window("minimum", "f32", "4x2x",
             "base_dilations = array<i64: 2, 1>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>, "
             "window_dilations = array<i64: 1, 2>, window_dimensions = array<i64: 3, 2>, "
             "window_strides = array<i64: 2, 1>",
             "3x1x"),
      // The start value is in the padding and between dilated elements, too.
      window("add", "f32", "5x3x", padded, "6x4x", true),
      window("multiply", "f64", "5x3x", padded, "6x4x", true),
      window("maximum", "f32", "5x3x", padded, "6x4x", true),
      window("subtract", "f32", "5x3x", padded, "6x4x", true),
      window("add", "f32", "2x", "window_dimensions = array<i64: 3>", "0x"),
      window("add", "f32", "0x3x", "window_dimensions = array<i64: 1, 2>", "0x2x"),
  };
}

}  // namespace

extern const OpDef kReduceWindow = {
    .name = "stablehlo.reduce_window",
    .doc = "The elements under each position of a window, combined by the region from the start values.",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = ops::reduce_window_gradient,
    .expand = ops::converted_for_region,
    .split = ops::split_combining,
    .samples = samples,
    .root = KernelRoot::kWindow,
    .axes = &ops::kWindowAxes,
    .ulp = {.f32 = 2, .f64 = 2},
    .flops = 8,
};

}  // namespace ingot::reduce_window_op
