// stablehlo.while: carries values through a body for as long as a condition on them holds.
#include <fmt/format.h>

#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/infer.h"

namespace ingot::while_op {
namespace {

void check_carried(const InferArgs& args, const Block& region, std::string_view what) {
  bool fits = region.arguments.size() == args.operands.size();
  for (size_t i = 0; fits && i < args.operands.size(); ++i) fits = region.arguments[i]->type == args.operands[i];
  if (!fits) args.fail(fmt::format("the arguments of its {} must be of the operands' types", what));
}

std::vector<TensorType> infer(const InferArgs& args) {
  if (args.regions.size() != 2) args.fail("needs two regions: a condition and a body");
  check_carried(args, *args.regions[0], "condition");
  check_carried(args, *args.regions[1], "body");
  const Values& go_on = args.regions[0]->terminator()->operands;
  if (go_on.size() != 1 || go_on[0]->type != TensorType{DType::kI1, {}}) {
    args.fail("its condition must return one tensor<i1>");
  }
  ops::check_returns(args, 1, args.operands);
  return {args.operands.begin(), args.operands.end()};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  std::vector<RefTensor> carried(args.inputs.begin(), args.inputs.end());
  while (args.run(args.op.region(0), carried)[0].i[0]) carried = args.run(args.op.region(1), std::move(carried));
  return carried;
}

std::vector<Sample> samples() {
  return {
      // x doubled until it is above 100, at most seven times; %y is read from outside.
      {.text = R"(func.func @main(%x: tensor<f32>, %y: tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %limit = stablehlo.constant dense<1.000000e+02> : tensor<f32>
  %0:3 = stablehlo.while(%a = %x, %b = %y, %i = %zero) : tensor<f32>, tensor<3xf32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %a, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.compare LT, %i, %seven : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.and %1, %2 : tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %4 = stablehlo.add %a, %a : tensor<f32>
    %5 = stablehlo.add %b, %y : tensor<3xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %4, %5, %6 : tensor<f32>, tensor<3xf32>, tensor<i32>
  }
  return %0#0, %0#1, %0#2 : tensor<f32>, tensor<3xf32>, tensor<i32>
}
)",
       .differentiable = false},
      // Never; and two values that trade places.
      {.text =
           R"(func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>, %n: tensor<i32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %mask = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %times = stablehlo.and %n, %mask : tensor<i32>
  %0:3 = stablehlo.while(%a = %x, %b = %y, %i = %zero) : tensor<2xf32>, tensor<2xf32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %times : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %b, %a, %2 : tensor<2xf32>, tensor<2xf32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xf32>
}
)",
       .differentiable = false},
  };
}

}  // namespace

extern const OpDef kWhile = {
    .name = "stablehlo.while",
    .doc = "Runs the body on the carried values for as long as the condition on them is true.",
    .assembly = "custom(while)",
    .infer = infer,
    .evaluate = evaluate,
    .split = ops::split_doubled,
    .samples = samples,
    .root = KernelRoot::kControlFlow,
    .infers_dynamic_shapes = true,
    .infer_sees_quantized = true,
};

}  // namespace ingot::while_op
