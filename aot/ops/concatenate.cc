// stablehlo.concatenate: tensors one after the other along a dimension.
#include <fmt/format.h>

#include "aot/loops/element.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  if (args.operands.empty()) args.fail("needs at least one operand");
  TensorType result = args.operands[0];
  const int64_t dim = args.attrs().integer("dimension");
  if (dim < 0 || dim >= result.rank()) {
    args.fail(fmt::format("dimension = {}: {} has no such dimension", dim, to_string(result)));
  }
  result.shape[dim] = 0;
  for (const TensorType& operand : args.operands) {
    ops::check_same_dtype(args, args.operands[0], operand);
    TensorType rest = operand;
    if (operand.rank() == result.rank()) rest.shape[dim] = result.shape[dim];
    if (rest != result) {
      args.fail(fmt::format("{} and {} may differ in dimension {} alone", to_string(args.operands[0]),
                            to_string(operand), dim));
    }
    result.shape[dim] += operand.shape[dim];
  }
  return {result};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const int64_t dim = args.attrs().integer("dimension");
  RefTensor result(args.result_type());
  const int64_t stride = row_major_strides(result.type.shape)[dim];
  int64_t base = 0;
  for (const RefTensor& x : args.inputs) {
    ops::place_box(result, base, x);
    base += x.type.shape[dim] * stride;
  }
  return {result};
}

// The nearest index of an operand: a masked load far outside of it takes processors hundreds of cycles.
loops::Index inside(loops::KernelBuilder& b, const loops::Index& at, int64_t extent) {
  using loops::ScalarOp;
  loops::Expr value = b.index_value(at);
  value = b.apply(ScalarOp::kMaximum, {value, b.constant_int(value->dtype, 0)});
  value = b.apply(ScalarOp::kMinimum, {value, b.constant_int(value->dtype, extent - 1)});
  return b.let_index("inside", value, 0, extent - 1);
}

// The operand whose range of the dimension holds the index: a chain of selects, in which each operand is read only
// where it is chosen. Ranges that the index cannot meet are left out; it meets none where the mask never holds.
loops::Expr element(loops::ElementArgs& args) {
  const int64_t dim = args.op.attrs().integer("dimension");
  const loops::Kernel& kernel = args.b.kernel();
  const int64_t lowest = kernel.low(args.index[dim]), highest = kernel.high(args.index[dim]);
  loops::Expr value;
  int64_t start = 0;
  for (int i = 0; i < static_cast<int>(args.op.operands.size()); ++i) {
    const int64_t extent = args.op.operand(i)->type.shape[dim];
    const int64_t end = start + extent;
    if (extent > 0 && lowest < end && highest >= start) {
      std::vector<loops::Index> at = args.index;
      at[dim] = at[dim] - start;
      const loops::Expr chosen = args.b.in_range(at[dim], 0, extent);
      if (chosen && !args.b.has_lanes(at[dim])) at[dim] = inside(args.b, at[dim], extent);
      const loops::Expr here = chosen ? args.operand_if(i, at, chosen) : args.operand_at(i, at);
      value = value && chosen ? args.b.apply(loops::ScalarOp::kSelect, {chosen, here, value}) : here;
    }
    start = end;
  }
  return value ? value : args.b.constant_int(loops::register_dtype(args.op.result()->type.dtype), 0);
}

// Each operand's gradient is its part of dy.
Values gradient(GradientArgs& args) {
  const int64_t dim = args.op.attrs().integer("dimension");
  Shape start(args.dy()->type.rank(), 0);
  Values gradients;
  for (size_t i = 0; i < args.op.operands.size(); ++i) {
    Shape limit = args.dy()->type.shape;
    limit[dim] = start[dim] + args.operand(static_cast<int>(i))->type.shape[dim];
    gradients.push_back(args.needed[i] ? ops::slice(args.b, args.dy(), start, limit, Shape(start.size(), 1)) : nullptr);
    start[dim] = limit[dim];
  }
  return gradients;
}

std::vector<Sample> samples() {
  const auto two = [](const std::string& x, const std::string& y, int dim, const std::string& to) {
    return Sample{.text = ops::single_op("%x: " + x + ", %y: " + y,
                                         "stablehlo.concatenate %x, %y, dim = " + std::to_string(dim) + " : (" + x +
                                             ", " + y + ") -> " + to,
                                         to)};
  };
  const std::string a = "tensor<2x1xf32>", b = "tensor<2x9xf32>", c = "tensor<2x4xf32>";
  return {
      two("tensor<3xcomplex<f32>>", "tensor<5xcomplex<f32>>", 0, "tensor<8xcomplex<f32>>"),
      two("tensor<3xf32>", "tensor<5xf32>", 0, "tensor<8xf32>"),
      two("tensor<2x3xf32>", "tensor<4x3xf32>", 0, "tensor<6x3xf32>"),
      two("tensor<2x3xf32>", "tensor<2x17xf32>", 1, "tensor<2x20xf32>"),
      two("tensor<2x1x3xf64>", "tensor<2x2x3xf64>", 1, "tensor<2x3x3xf64>"),
      two("tensor<0xf32>", "tensor<4xf32>", 0, "tensor<4xf32>"),
      two("tensor<2xbf16>", "tensor<1xbf16>", 0, "tensor<3xbf16>"),
      two("tensor<2xi32>", "tensor<2xi32>", 0, "tensor<4xi32>"),
      two("tensor<2xi1>", "tensor<2xi1>", 0, "tensor<4xi1>"),
      {.text = ops::single_op(
           "%x: " + a + ", %y: " + b + ", %z: " + c,
           "stablehlo.concatenate %x, %y, %z, dim = 1 : (" + a + ", " + b + ", " + c + ") -> tensor<2x14xf32>",
           "tensor<2x14xf32>")},
      {.text = ops::single_op("%x: " + a, "stablehlo.concatenate %x, dim = 0 : (" + a + ") -> " + a, a)},
  };
}

}  // namespace

extern const OpDef kConcatenate = {
    .name = "stablehlo.concatenate",
    .doc = "The operands one after the other along `dimension`.",
    .assembly = "operands `,` `dim` `=` int(dimension) attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .split = ops::split_each,
    .samples = samples,
    .element = element,
    .flops = 0,
    .only_moves = true,
};

}  // namespace ingot
