// stablehlo.dynamic_slice: a box of a tensor whose place is data.
#include <fmt/format.h>

#include "aot/graph/access_map.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/clamped_start.h"
#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::dynamic_slice_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  if (args.operands.empty()) args.fail("needs an operand");
  const TensorType& x = args.operands[0];
  ops::check_operand_count(args, 1 + x.shape.size());
  const std::vector<int64_t> sizes = args.attrs().ints("slice_sizes");
  ops::check_one_each(args, "slice_sizes", sizes, x.rank());
  for (int d = 0; d < x.rank(); ++d) {
    ops::check_scalar(args, "a start index", args.operands[1 + d]);
    if (!is_integer(args.operands[1 + d].dtype)) args.fail("a start index must be an integer");
    ops::check_same_dtype(args, args.operands[1], args.operands[1 + d]);
    if (sizes[d] < 0 || sizes[d] > x.shape[d]) {
      args.fail(fmt::format("slice_sizes = {} must be within {}", ops::to_string(sizes), to_string(x)));
    }
  }
  return {{x.dtype, sizes}};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& x = args.inputs[0];
  const TensorType& type = args.result_type();
  const Shape strides = row_major_strides(x.type.shape);
  int64_t base = 0;
  for (int d = 0; d < type.rank(); ++d) {
    base += strides[d] * ops::clamped_start(args.inputs[1 + d], 0, x.type.shape[d] - type.shape[d]);
  }
  return {ops::strided_copy(type, x, base, strides)};
}

AccessMap access(const Op& op) {
  std::vector<AxisMap> axes;
  for (int d = 0; d < op.result()->type.rank(); ++d) {
    axes.push_back(along(d));
    axes[d].start = 1 + d;
  }
  return {{{0, axes}}};
}

// dx is dy where the slice was, else 0: dynamic_update_slice of zeros. The start indices get nothing.
Values gradient(GradientArgs& args) {
  Values gradients(args.op.operands.size(), nullptr);
  const Values starts(args.op.operands.begin() + 1, args.op.operands.end());
  gradients[0] = ops::dynamic_update_slice(args.b, ops::zeros_like(args.b, args.operand(0)), args.dy(), starts);
  return gradients;
}

std::vector<Sample> samples() {
  const auto slice = [](const std::string& from, int rank, const std::string& index, const std::string& sizes,
                        const std::string& to) {
    std::string arguments = "%x: " + from, operands = "%x", types = from;
    for (int d = 0; d < rank; ++d) {
      const std::string name = "%s" + std::to_string(d);
      arguments += ", " + name + ": tensor<" + index + ">";
      operands += ", " + name;
      types += ", tensor<" + index + ">";
    }
    return Sample{.text = ops::single_op(
                      arguments,
                      "stablehlo.dynamic_slice " + operands + ", sizes = " + sizes + " : (" + types + ") -> " + to, to),
                  .integer_low = -2,
                  .integer_high = 12};
  };
  return {
      slice("tensor<10xcomplex<f64>>", 1, "i32", "[4]", "tensor<4xcomplex<f64>>"),
      slice("tensor<10xf32>", 1, "i32", "[4]", "tensor<4xf32>"),
      slice("tensor<10xf32>", 1, "i64", "[10]", "tensor<10xf32>"),
      slice("tensor<6x17xf32>", 2, "i32", "[1, 17]", "tensor<1x17xf32>"),
      slice("tensor<6x17xf32>", 2, "i32", "[3, 9]", "tensor<3x9xf32>"),
      slice("tensor<4x3x5xf64>", 3, "i64", "[2, 1, 5]", "tensor<2x1x5xf64>"),
      slice("tensor<f32>", 0, "i32", "[]", "tensor<f32>"),
      slice("tensor<9xbf16>", 1, "ui32", "[2]", "tensor<2xbf16>"),
      slice("tensor<9xi32>", 1, "i32", "[3]", "tensor<3xi32>"),
      slice("tensor<9xi1>", 1, "i8", "[3]", "tensor<3xi1>"),
      slice("tensor<9xf32>", 1, "i32", "[0]", "tensor<0xf32>"),
  };
}

}  // namespace

extern const OpDef kDynamicSlice = {
    .name = "stablehlo.dynamic_slice",
    .doc = "The slice of slice_sizes that starts at the indices given as scalars, clamped so that it fits.",
    .assembly = "operands `,` `sizes` `=` ints(slice_sizes) attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .split = ops::split_each,
    .samples = samples,
    .access = access,
    .flops = 0,
};

}  // namespace ingot::dynamic_slice_op
