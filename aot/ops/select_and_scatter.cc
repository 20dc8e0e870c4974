// stablehlo.select_and_scatter: sends each source element to the element that its window selects; pooling's gradient.
#include <fmt/format.h>

#include "aot/ops/support/axes.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/region.h"
#include "aot/ops/support/samples.h"

namespace ingot::select_and_scatter_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 3);
  const TensorType& x = args.operands[0];
  const TensorType& source = args.operands[1];
  ops::check_scalar(args, "the start value", args.operands[2]);
  ops::check_same_dtype(args, source, args.operands[2]);
  const ops::Window window = ops::read_window(args.attrs());
  ops::check_window(args, window, x.rank());
  const Shape expected = ops::positions(window, x.shape);
  if (source.shape != expected) {
    args.fail(fmt::format("the source is {}, the window has positions {} over {}", to_string(source),
                          ops::to_string(expected), to_string(x)));
  }
  ops::check_scalar_region(args, 0, 2);
  const Block& scatter = ops::check_scalar_region(args, 1, 2);
  return {{scatter.terminator()->operand(0)->type.dtype, x.shape}};
}

// In each window, from its first element on, the selected one stays while select(selected, next) holds. Padding is
// never selected. Sources are combined into the start value in ascending order.
std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& x = args.inputs[0];
  const ops::Window window = ops::read_window(args.attrs());
  const Shape strides = row_major_strides(x.type.shape), sizes = ops::sizes(window);
  std::vector<RefTensor> results{
      ops::strided_copy(args.result_type(), args.inputs[2], 0, Shape(x.type.shape.size(), 0))};
  const ops::RegionRunner select(args, args.op.region(0)), scatter(args, args.op.region(1));
  ops::for_each_index(args.inputs[1].type.shape, [&](const Shape& position, int64_t from) {
    int64_t selected = -1;
    ops::for_each_index(sizes, [&](const Shape& offset, int64_t) {
      int64_t at = 0;
      for (size_t d = 0; d < window.size(); ++d) {
        const int64_t place = window[d].source(position[d], offset[d], x.type.shape[d]);
        if (place < 0) return;
        at += place * strides[d];
      }
      if (selected < 0 || !select.test(x, selected, x, at)) selected = at;
    });
    if (selected >= 0) scatter.combine(results, selected, args.inputs.subspan(1, 1), from);
  });
  return results;
}

// (a, s, is_a, b, t, is_b) -> is_a and (not is_b or select(a, b)) ? (a, s, is_a) : (b, t, is_b), where `is_a` says
// that there is an a.
std::unique_ptr<Block> selection_region(GraphBuilder& b, const Block& select, DType key, DType payload) {
  auto block = std::make_unique<Block>();
  for (DType dtype : {key, payload, DType::kI1, key, payload, DType::kI1}) block->add_argument({dtype, {}});
  ValueMap map{{select.argument(0), block->argument(0)}, {select.argument(1), block->argument(3)}};
  copy_ops(select, *block, map, false);
  Value* stays = select.terminator()->operand(0);
  if (const auto copy = map.find(stays); copy != map.end()) stays = copy->second;
  GraphBuilder inner;
  inner.location = b.location;
  inner.at_end(*block);
  stays = ops::binary(inner, kOr, stays, ops::unary(inner, kNot, block->argument(5)));
  stays = ops::binary(inner, kAnd, stays, block->argument(2));
  Values selected;
  for (int k = 0; k < 3; ++k) {
    selected.push_back(ops::select(inner, stays, block->argument(k), block->argument(3 + k)));
  }
  inner.create(kStablehloReturn, selected);
  return block;
}

// With add as the scatter region, a source element's gradient is dy where it went: a reduce_window over x and dy that
// selects as this op does. x decides, and gets no gradient. The start value, under every element, gets sum(dy).
Values gradient(GradientArgs& args) {
  GraphBuilder& b = args.b;
  if (ops::binary_region_op(args.op.region(1)) != &kAdd) {
    throw_limit(args.op.location, "stablehlo.select_and_scatter has a gradient when its scatter region adds");
  }
  Values gradients(3, nullptr);
  if (args.needed[1]) {
    const TensorType& x = args.operand(0)->type;
    const DType payload = args.dy()->type.dtype;
    std::vector<std::unique_ptr<Block>> regions;
    regions.push_back(selection_region(b, args.op.region(0), x.dtype, payload));
    Values operands{args.operand(0), args.dy(), ops::constant(b, {DType::kI1, x.shape}, 1)};
    for (const DType dtype : {x.dtype, payload, DType::kI1}) operands.push_back(ops::constant(b, {dtype, {}}, 0));
    const ops::Window window = ops::read_window(args.op.attrs());
    gradients[1] = b.create(kReduceWindow, operands, ops::window_attrs(window), {}, std::move(regions))->result(1);
  }
  if (args.needed[2]) gradients[2] = ops::reduce(b, kAdd, args.dy(), ops::iota_dims(args.dy()->type.rank()));
  return gradients;
}

std::vector<Sample> samples() {
  const auto sample = [](const std::string& direction, const std::string& op, const std::string& dtype,
                         const std::string& x, const std::string& attrs, const std::string& source) {
    const std::string scalar = "tensor<" + dtype + ">", type = "tensor<" + x + dtype + ">",
                      source_type = "tensor<" + source + dtype + ">";
    const std::string select = "({\n  ^bb0(%a: " + scalar + ", %b: " + scalar + "):\n    %r = stablehlo.compare " +
                               direction + ", %a, %b : (" + scalar + ", " + scalar +
                               ") -> tensor<i1>\n    stablehlo.return %r : tensor<i1>\n  }, {";
    const std::string scatter = ops::scalar_region(op, dtype).substr(2);
    return Sample{.text =
                      ops::single_op("%x: " + type + ", %s: " + source_type + ", %start: " + scalar,
                                     "\"stablehlo.select_and_scatter\"(%x, %s, %start) <{" + attrs + "}> " + select +
                                         scatter + " : (" + type + ", " + source_type + ", " + scalar + ") -> " + type,
                                     type)};
  };
  return {
      sample("GE", "add", "f32", "2x8x8x3x",
             "window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>", "2x4x4x3x"),
      sample("GE", "add", "f32", "1x2x7x7x",
             "padding = dense<[[0, 0], [0, 0], [1, 1], [1, 1]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, "
             "1, 3, 3>, "
             "window_strides = array<i64: 1, 1, 2, 2>",
             "1x2x4x4x"),
      sample("LE", "add", "f64", "9x", "window_dimensions = array<i64: 4>, window_strides = array<i64: 2>", "3x"),
      sample("GT", "add", "f32", "9x", "window_dimensions = array<i64: 3>", "7x"),
      sample("GE", "add", "bf16", "6x", "window_dimensions = array<i64: 2>, window_strides = array<i64: 2>", "3x"),
      sample("GE", "add", "i32", "6x", "window_dimensions = array<i64: 2>, window_strides = array<i64: 2>", "3x"),
      sample("GE", "add", "f32", "0x4x", "window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>",
             "0x2x"),
      sample("GE", "add", "f32", "4x2x3x", "window_dimensions = array<i64: 2, 1, 1>", "3x2x3x"),
      sample("GE", "add", "f32", "2x1x2x",
             "padding = dense<[[0, 0], [2, 0], [0, 0]]> : tensor<3x2xi64>, window_dimensions = array<i64: 1, 1, 1>",
             "2x3x2x"),
  };
}

}  // namespace

extern const OpDef kSelectAndScatter = {
    .name = "stablehlo.select_and_scatter",
    .doc =
        "Each source element, combined by the scatter region into the element that its window of the operand selects.",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .samples = samples,
    .root = KernelRoot::kSelectScatter,
    .axes = &ops::kWindowAxes,
    .ulp = {.f32 = 1, .f64 = 1},
    .flops = 8,
};

}  // namespace ingot::select_and_scatter_op
