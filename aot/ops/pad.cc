// stablehlo.pad: a value around and between the elements of a tensor; negative padding cuts elements off.
#include <fmt/format.h>

#include <algorithm>

#include "aot/graph/access_map.h"
#include "aot/ops/support/axes.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"
#include "aot/ops/support/window.h"

namespace ingot::pad_op {
namespace {

struct Padding {
  std::vector<int64_t> low, high, interior;
};

Padding read_padding(const Attrs& attrs) {
  return {attrs.ints("edge_padding_low"), attrs.ints("edge_padding_high"), attrs.ints("interior_padding")};
}

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 2);
  const TensorType& x = args.operands[0];
  ops::check_scalar(args, "the padding value", args.operands[1]);
  ops::check_same_dtype(args, x, args.operands[1]);
  const Padding padding = read_padding(args.attrs());
  ops::check_one_each(args, "edge_padding_low", padding.low, x.rank());
  ops::check_one_each(args, "edge_padding_high", padding.high, x.rank());
  ops::check_one_each(args, "interior_padding", padding.interior, x.rank());
  ops::check_lengths(args, "edge_padding_low", padding.low);
  ops::check_lengths(args, "edge_padding_high", padding.high);
  ops::check_lengths(args, "interior_padding", padding.interior);
  TensorType result{x.dtype, {}};
  for (int d = 0; d < x.rank(); ++d) {
    if (padding.interior[d] < 0) {
      args.fail(fmt::format("interior_padding = {} must not be negative", ops::to_string(padding.interior)));
    }
    const int64_t extent = padding.low[d] + ops::dilated_extent(x.shape[d], padding.interior[d] + 1) + padding.high[d];
    if (extent < 0) {
      args.fail(fmt::format("dimension {} of {} would get {} elements: low {}, high {}, interior {}", d, to_string(x),
                            extent, padding.low[d], padding.high[d], padding.interior[d]));
    }
    result.shape.push_back(extent);
  }
  return {result};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& x = args.inputs[0];
  const Padding padding = read_padding(args.attrs());
  const Shape strides = row_major_strides(x.type.shape);
  RefTensor result(args.result_type());
  ops::for_each_index(result.type.shape, [&](const Shape& at, int64_t k) {
    int64_t from = 0;
    for (size_t d = 0; d < at.size(); ++d) {
      const int64_t place = at[d] - padding.low[d], step = padding.interior[d] + 1;
      if (place < 0 || place % step != 0 || place / step >= x.type.shape[d])
        return result.copy_element(k, args.inputs[1], 0);
      from += place / step * strides[d];
    }
    result.copy_element(k, x, from);
  });
  return {result};
}

// The value everywhere, and over it the operand.
AccessMap access(const Op& op) {
  const Padding padding = read_padding(op.attrs());
  std::vector<AxisMap> axes;
  for (size_t d = 0; d < padding.low.size(); ++d) {
    axes.push_back(along(static_cast<int64_t>(d), -padding.low[d]));
    axes[d].divisor = padding.interior[d] + 1;
  }
  return {{{1}, {0, axes}}};
}

// dx is dy at the places of x's elements: the padding undone (negated: what was cut off gets 0), then every
// interior + 1-th element. The padding value gets the rest: sum(dy) - sum(dx).
Values gradient(GradientArgs& args) {
  const Padding padding = read_padding(args.op.attrs());
  const TensorType& x = args.operand(0)->type;
  const int rank = x.rank();
  const auto negate_all = [](std::vector<int64_t> values) {
    for (int64_t& value : values) value = -value;
    return values;
  };
  Value* zero = ops::constant(args.b, {x.dtype, {}}, 0);
  Value* dx = ops::pad(args.b, args.dy(), zero, negate_all(padding.low), negate_all(padding.high), Shape(rank, 0));
  if (std::any_of(padding.interior.begin(), padding.interior.end(), [](int64_t p) { return p > 0; })) {
    Shape strides = padding.interior;
    for (int64_t& stride : strides) ++stride;
    dx = ops::slice(args.b, dx, Shape(rank, 0), dx->type.shape, strides);
  }
  Value* dvalue = nullptr;
  if (args.needed[1]) {
    const std::vector<int64_t> all = ops::iota_dims(rank);
    dvalue = ops::subtract(args.b, ops::reduce(args.b, kAdd, args.dy(), all), ops::reduce(args.b, kAdd, dx, all));
  }
  return {dx, dvalue};
}

std::vector<Sample> samples() {
  const auto pad = [](const std::string& from, const std::string& scalar, const std::string& low,
                      const std::string& high, const std::string& interior, const std::string& to) {
    return Sample{.text = ops::single_op("%x: " + from + ", %v: " + scalar,
                                         "stablehlo.pad %x, %v, low = " + low + ", high = " + high +
                                             ", interior = " + interior + " : (" + from + ", " + scalar + ") -> " + to,
                                         to)};
  };
  return {
      pad("tensor<5xcomplex<f32>>", "tensor<complex<f32>>", "[2]", "[3]", "[0]", "tensor<10xcomplex<f32>>"),
      pad("tensor<5xf32>", "tensor<f32>", "[2]", "[3]", "[0]", "tensor<10xf32>"),
      pad("tensor<5xf32>", "tensor<f32>", "[-1]", "[-2]", "[0]", "tensor<2xf32>"),
      pad("tensor<5xf32>", "tensor<f32>", "[1]", "[-1]", "[2]", "tensor<13xf32>"),
      pad("tensor<4xf32>", "tensor<f32>", "[-2]", "[2]", "[1]", "tensor<7xf32>"),
      pad("tensor<3x9xf32>", "tensor<f32>", "[0, 1]", "[1, 0]", "[0, 0]", "tensor<4x10xf32>"),
      pad("tensor<2x3x2x2xf64>", "tensor<f64>", "[0, 1, 2, 0]", "[0, 1, 0, 1]", "[1, 0, 1, 0]", "tensor<3x5x5x3xf64>"),
      pad("tensor<f32>", "tensor<f32>", "[]", "[]", "[]", "tensor<f32>"),
      pad("tensor<0xf32>", "tensor<f32>", "[2]", "[1]", "[3]", "tensor<3xf32>"),
      pad("tensor<2x2xbf16>", "tensor<bf16>", "[1, 0]", "[0, 1]", "[0, 1]", "tensor<3x4xbf16>"),
      pad("tensor<3xi32>", "tensor<i32>", "[1]", "[1]", "[1]", "tensor<7xi32>"),
      pad("tensor<3xi1>", "tensor<i1>", "[1]", "[1]", "[0]", "tensor<5xi1>"),
  };
}

}  // namespace

extern const OpDef kPad = {
    .name = "stablehlo.pad",
    .doc =
        "The operand with edge_padding_low before, interior_padding between and edge_padding_high after its elements.",
    .assembly =
        "operands `,` `low` `=` ints(edge_padding_low) `,` `high` `=` ints(edge_padding_high) `,` `interior` `=` "
        "ints(interior_padding) attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .split = ops::split_each,
    .samples = samples,
    .access = access,
    .axes = &ops::kListedAxes,
    .flops = 0,
};

}  // namespace ingot::pad_op
