// stablehlo.get_dimension_size: how many elements a tensor has along a dimension.
#include <fmt/format.h>

#include "aot/ops/support/build.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::get_dimension_size_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  const int64_t dim = args.attrs().integer("dimension");
  if (dim < 0 || dim >= args.operands[0].rank()) {
    args.fail(fmt::format("dimension = {}: {} has no such dimension", dim, to_string(args.operands[0])));
  }
  return {{DType::kI32, {}}};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  RefTensor size(args.result_type());
  size.i[0] = args.inputs[0].type.shape[args.attrs().integer("dimension")];
  return {size};
}

Values expand(ExpandArgs& args) {
  const TensorType& type = args.operand(0)->type;
  const int64_t dim = args.attrs().integer("dimension");
  if (type.shape[dim] == kUnknownDim) {
    throw_error(args.op.location,
                fmt::format("{}: dimension {} of {} is not known before the program runs; give it to the compiler "
                            "(ingot compile --shape NAME=SIZE)",
                            args.op.name(), dim, to_string(type)));
  }
  return {ops::constant(args.b, splat_int({DType::kI32, {}}, type.shape[dim]))};
}

std::vector<Sample> samples() {
  const auto size = [](const std::string& type, int dim) {
    return Sample{.text = ops::single_op("%x: " + type,
                                         "stablehlo.get_dimension_size %x, dim = " + std::to_string(dim) + " : (" +
                                             type + ") -> tensor<i32>",
                                         "tensor<i32>"),
                  .differentiable = false};
  };
  return {size("tensor<2x3xf32>", 1), size("tensor<0x3xi64>", 0)};
}

}  // namespace

extern const OpDef kGetDimensionSize = {
    .name = "stablehlo.get_dimension_size",
    .doc = "The size of one dimension of x.",
    .assembly = "operands `,` `dim` `=` int(dimension) attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .zero_gradient = true,
    .expand = expand,
    .samples = samples,
    .root = KernelRoot::kNone,
    .infers_dynamic_shapes = true,
};

}  // namespace ingot::get_dimension_size_op
