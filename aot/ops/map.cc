// stablehlo.map: a region of scalars, for each element.
#include <fmt/format.h>

#include <algorithm>

#include "aot/ops/support/build.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::map_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  if (args.operands.empty()) args.fail("needs an operand");
  const TensorType& x = args.operands[0];
  const Block& region = ops::check_scalar_region(args, 0, args.operands.size());
  for (size_t k = 0; k < args.operands.size(); ++k) {
    const TensorType& operand = args.operands[k];
    if (operand.shape != x.shape) {
      args.fail(fmt::format("the operands {} and {} must have one shape", to_string(x), to_string(operand)));
    }
    if (region.arguments[k]->type.dtype != operand.dtype) {
      args.fail(fmt::format("argument {} of the region must be an element of {}", k, to_string(operand)));
    }
  }
  if (args.attrs().ints("dimensions") != ops::iota_dims(x.rank())) {
    args.fail("dimensions must be all dimensions, in ascending order");
  }
  const Values& given = region.terminator()->operands;
  if (given.size() != 1) args.fail("the region must give one result");
  return {{given[0]->type.dtype, x.shape}};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  RefTensor result(args.result_type());
  for (int64_t k = 0; k < result.elements(); ++k) {
    std::vector<RefTensor> elements;
    for (const RefTensor& input : args.inputs) {
      elements.emplace_back(TensorType{input.type.dtype, {}});
      elements.back().copy_element(0, input, k);
    }
    result.copy_element(k, args.run(args.op.region(), std::move(elements))[0], 0);
  }
  return {result};
}

// The region's ops, of tensors instead of scalars.
Values expand(ExpandArgs& args) {
  GraphBuilder& b = args.b;
  const Block& region = args.op.region();
  const Shape& shape = args.op.result()->type.shape;
  ValueMap lifted;
  for (const auto& argument : region.arguments) lifted[argument.get()] = args.operand(argument->index);
  const auto lift = [&](Value* value) {
    Value*& made = lifted[value];
    // A scalar from outside, or a constant.
    if (!made) made = ops::broadcast_scalar(b, value, shape);
    return made;
  };
  for (const auto& op : region.ops) {
    if (op->def->is_terminator) break;
    if (op->is(kConstant)) {
      lifted[op->result()] = ops::broadcast_scalar(b, ops::constant(b, op->attrs().literal("value")), shape);
      continue;
    }
    if (!op->def->is_elementwise && !op->is(kBitcastConvert)) {
      throw_limit(op->location, fmt::format("{} in a stablehlo.map cannot be compiled yet; elementwise ops and "
                                            "constants can",
                                            op->name()));
    }
    Values operands;
    for (Value* operand : op->operands) operands.push_back(lift(operand));
    lifted[op->result()] = b.make(*op->def, operands, op->attr_map, {{op->result()->type.dtype, shape}});
  }
  return {lift(region.terminator()->operand(0))};
}

std::vector<Sample> samples() {
  const auto map = [](const std::string& shape, const std::string& dtype, const std::string& body) {
    const std::string type = "tensor<" + shape + dtype + ">", scalar = "tensor<" + dtype + ">";
    const auto rank = std::count(shape.begin(), shape.end(), 'x');
    return Sample{.text = fmt::format("func.func @main(%x: {0}, %y: {0}) -> {0} {{\n  %0 = \"stablehlo.map\"(%x, %y) "
                                      "<{{dimensions = array<i64{1}>}}> ({{\n  ^bb0(%a: {2}, %b: {2}):\n{3}    "
                                      "stablehlo.return %r : {2}\n  }}) : ({0}, {0}) -> {0}\n  return %0 : {0}\n}}\n",
                                      type,
                                      rank == 0   ? ""
                                      : rank == 1 ? ": 0"
                                                  : ": 0, 1",
                                      scalar, body)};
  };
  const std::string product =
      "    %h = stablehlo.constant dense<0.5> : tensor<f32>\n"
      "    %p = stablehlo.multiply %a, %b : tensor<f32>\n"
      "    %r = stablehlo.subtract %p, %h : tensor<f32>\n";
  const std::string greater =
      "    %c = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    %r = stablehlo.select %c, %a, %b : tensor<i1>, tensor<i32>\n";
  const std::string one = "    %r = stablehlo.constant dense<1.0> : tensor<f32>\n";
  return {map("4x3x", "f32", product), map("", "f32", product),
          map("7x", "i32", greater),   map("0x", "f32", product),
          map("5x", "f32", one),       map("5x", "f32", "    %r = stablehlo.abs %b : tensor<f32>\n")};
}

}  // namespace

extern const OpDef kMap = {
    .name = "stablehlo.map",
    .doc = "What a region of scalars gives for the elements of the operands at each index.",
    .infer = infer,
    .evaluate = evaluate,
    .expand = expand,
    .samples = samples,
    .root = KernelRoot::kNone,
    .ulp = {.f32 = 1, .f64 = 1},
};

}  // namespace ingot::map_op
