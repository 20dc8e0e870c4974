// stablehlo.slice: a box of a tensor, with strides.
#include <fmt/format.h>

#include <algorithm>

#include "aot/base/divide.h"
#include "aot/graph/access_map.h"
#include "aot/ops/support/axes.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::slice_op {
namespace {

struct Box {
  std::vector<int64_t> start, limit, strides;
};

Box written_box(const Attrs& attrs) {
  const std::vector<int64_t> start = attrs.ints("start_indices");
  return {start, attrs.ints("limit_indices"), attrs.ints("strides", std::vector<int64_t>(start.size(), 1))};
}

// No stride is longer than the box: past the limit they are all alike.
Box read_box(const Attrs& attrs) {
  Box box = written_box(attrs);
  for (size_t d = 0; d < box.start.size(); ++d) {
    box.strides[d] = std::min(box.strides[d], std::max<int64_t>(box.limit[d] - box.start[d], 1));
  }
  return box;
}

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  const TensorType& x = args.operands[0];
  const Box box = written_box(args.attrs());
  ops::check_one_each(args, "start_indices", box.start, x.rank());
  ops::check_one_each(args, "limit_indices", box.limit, x.rank());
  ops::check_one_each(args, "strides", box.strides, x.rank());
  TensorType result{x.dtype, {}};
  for (int d = 0; d < x.rank(); ++d) {
    const int64_t start = box.start[d], limit = box.limit[d], stride = box.strides[d];
    if (start < 0 || start > limit || limit > x.shape[d] || stride < 1) {
      args.fail(fmt::format("dimension {} of {}: {}:{}:{} must keep 0 <= start <= limit <= {} and stride >= 1", d,
                            to_string(x), start, limit, stride, x.shape[d]));
    }
    result.shape.push_back(divide_up(limit - start, stride));
  }
  return {result};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& x = args.inputs[0];
  const Box box = read_box(args.attrs());
  Shape strides = row_major_strides(x.type.shape);
  const int64_t base = linear_index(box.start, strides);
  for (size_t d = 0; d < strides.size(); ++d) strides[d] *= box.strides[d];
  return {ops::strided_copy(args.result_type(), x, base, strides)};
}

AccessMap access(const Op& op) {
  const Box box = read_box(op.attrs());
  std::vector<AxisMap> axes;
  for (size_t d = 0; d < box.start.size(); ++d)
    axes.push_back(along(static_cast<int64_t>(d), box.start[d], box.strides[d]));
  return {{{0, axes}}};
}

// dx is dy where an element was taken, else 0: dy padded by start before, stride - 1 between, and the rest after.
Values gradient(GradientArgs& args) {
  const Box box = read_box(args.op.attrs());
  const Shape& x = args.operand(0)->type.shape;
  const Shape& y = args.result()->type.shape;
  Shape high, interior;
  for (size_t d = 0; d < x.size(); ++d) {
    const int64_t taken = y[d] == 0 ? 0 : (y[d] - 1) * box.strides[d] + 1;
    high.push_back(x[d] - box.start[d] - taken);
    interior.push_back(box.strides[d] - 1);
  }
  Value* zero = ops::constant(args.b, {args.dy()->type.dtype, {}}, 0);
  return {ops::pad(args.b, args.dy(), zero, box.start, high, interior)};
}

std::vector<Sample> samples() {
  const auto slice = [](const std::string& from, const std::string& ranges, const std::string& to) {
    return Sample{.text =
                      ops::single_op("%x: " + from, "stablehlo.slice %x " + ranges + " : (" + from + ") -> " + to, to)};
  };
  return {
      slice("tensor<10xcomplex<f32>>", "[2:7]", "tensor<5xcomplex<f32>>"),
      slice("tensor<10xf32>", "[2:7]", "tensor<5xf32>"),
      slice("tensor<10xf32>", "[1:10:3]", "tensor<3xf32>"),
      slice("tensor<20x33xf32>", "[3:20:2, 0:33]", "tensor<9x33xf32>"),
      slice("tensor<4x5x6xf64>", "[0:4:3, 1:5, 5:6]", "tensor<2x4x1xf64>"),
      slice("tensor<4x5xf32>", "[2:2, 0:5]", "tensor<0x5xf32>"),
      slice("tensor<f32>", "[]", "tensor<f32>"),
      slice("tensor<9xbf16>", "[0:9:2]", "tensor<5xbf16>"),
      slice("tensor<9xi32>", "[4:9]", "tensor<5xi32>"),
      slice("tensor<9xi1>", "[0:8:4]", "tensor<2xi1>"),
  };
}

}  // namespace

extern const OpDef kSlice = {
    .name = "stablehlo.slice",
    .doc = "The elements at start_indices + i * strides below limit_indices.",
    .assembly = "$0 custom(slice_ranges) attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .split = ops::split_each,
    .samples = samples,
    .access = access,
    .axes = &ops::kListedAxes,
    .flops = 0,
};

}  // namespace ingot::slice_op
