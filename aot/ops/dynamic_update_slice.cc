// stablehlo.dynamic_update_slice: a tensor with a box of it overwritten, at a place that is data.
#include <fmt/format.h>

#include "aot/loops/element.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/clamped_start.h"
#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::dynamic_update_slice_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  if (args.operands.size() < 2) args.fail("needs an operand and an update");
  const TensorType& x = args.operands[0];
  const TensorType& update = args.operands[1];
  ops::check_operand_count(args, 2 + x.shape.size());
  ops::check_same_dtype(args, x, update);
  if (update.rank() != x.rank()) {
    args.fail(fmt::format("the update {} must have the rank of {}", to_string(update), to_string(x)));
  }
  for (int d = 0; d < x.rank(); ++d) {
    ops::check_scalar(args, "a start index", args.operands[2 + d]);
    if (!is_integer(args.operands[2 + d].dtype)) args.fail("a start index must be an integer");
    ops::check_same_dtype(args, args.operands[2], args.operands[2 + d]);
    if (update.shape[d] > x.shape[d]) {
      args.fail(fmt::format("dimension {}: the update {} does not fit into {}", d, to_string(update), to_string(x)));
    }
  }
  return {x};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  RefTensor result = args.inputs[0];
  const RefTensor& update = args.inputs[1];
  const Shape strides = row_major_strides(result.type.shape);
  int64_t base = 0;
  for (int d = 0; d < result.type.rank(); ++d) {
    base += strides[d] * ops::clamped_start(args.inputs[2 + d], 0, result.type.shape[d] - update.type.shape[d]);
  }
  ops::place_box(result, base, update);
  return {result};
}

// The update inside its box, else the operand.
loops::Expr element(loops::ElementArgs& args) {
  const Shape& whole = args.op.operand(0)->type.shape;
  const Shape& box = args.op.operand(1)->type.shape;
  if (element_count(box) == 0) return args.operand(0);
  std::vector<loops::Index> at;
  loops::Expr inside;  // null: everywhere
  for (int d = 0; d < static_cast<int>(whole.size()); ++d) {
    const int64_t high = whole[d] - box[d];
    at.push_back(args.index[d]);
    if (high == 0) continue;
    at[d] = at[d] - ops::scalar_start(args, 2 + d, high);
    inside = args.b.both(inside, args.b.in_range(at[d], 0, box[d]));
  }
  if (!inside) return args.operand_at(1, at);
  return args.b.apply(loops::ScalarOp::kSelect, {inside, args.operand_if(1, at, inside), args.operand(0)});
}

// What was overwritten gets 0, the update gets its box of dy. The start indices get nothing.
Values gradient(GradientArgs& args) {
  Values gradients(args.op.operands.size(), nullptr);
  const Values starts(args.op.operands.begin() + 2, args.op.operands.end());
  if (args.needed[0]) {
    Value* zeros = ops::zeros_like(args.b, args.operand(1));
    gradients[0] = ops::dynamic_update_slice(args.b, args.dy(), zeros, starts);
  }
  if (args.needed[1]) gradients[1] = ops::dynamic_slice(args.b, args.dy(), starts, args.operand(1)->type.shape);
  return gradients;
}

std::vector<Sample> samples() {
  const auto update = [](const std::string& whole, const std::string& box, int rank, const std::string& index) {
    std::string arguments = "%x: " + whole + ", %u: " + box, operands = "%x, %u", types = whole + ", " + box;
    for (int d = 0; d < rank; ++d) {
      const std::string name = "%s" + std::to_string(d);
      arguments += ", " + name + ": tensor<" + index + ">";
      operands += ", " + name;
      types += ", tensor<" + index + ">";
    }
    return Sample{
        .text = ops::single_op(arguments,
                               "stablehlo.dynamic_update_slice " + operands + " : (" + types + ") -> " + whole, whole),
        .integer_low = -2,
        .integer_high = 12};
  };
  return {
      update("tensor<10xcomplex<f32>>", "tensor<4xcomplex<f32>>", 1, "i32"),
      update("tensor<10xf32>", "tensor<4xf32>", 1, "i32"),
      update("tensor<10xf32>", "tensor<10xf32>", 1, "i64"),
      update("tensor<6x17xf32>", "tensor<1x17xf32>", 2, "i32"),
      update("tensor<6x17xf32>", "tensor<2x9xf32>", 2, "i32"),
      update("tensor<4x3x5xf64>", "tensor<2x1x5xf64>", 3, "i64"),
      update("tensor<f32>", "tensor<f32>", 0, "i32"),
      update("tensor<9xbf16>", "tensor<2xbf16>", 1, "ui32"),
      update("tensor<9xi32>", "tensor<3xi32>", 1, "i32"),
      update("tensor<9xi1>", "tensor<3xi1>", 1, "i8"),
      update("tensor<9xf32>", "tensor<0xf32>", 1, "i32"),
  };
}

}  // namespace

extern const OpDef kDynamicUpdateSlice = {
    .name = "stablehlo.dynamic_update_slice",
    .doc = "The operand with the update at the start indices given as scalars, clamped so that it fits.",
    .assembly = "operands attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .split = ops::split_each,
    .samples = samples,
    .root = KernelRoot::kUpdate,
    .element = element,
    .flops = 0,
    .moves_by_data = true,
};

}  // namespace ingot::dynamic_update_slice_op
