// stablehlo.dynamic_iota: 0, 1, 2, ... along a dimension of the shape that the operand says.
#include <fmt/format.h>

#include "aot/ops/support/dynamic.h"
#include "aot/ops/support/infer.h"

namespace ingot::dynamic_iota_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  const TensorType& result = args.declared_result();
  ops::check_int_list(args, 0, "the shape", result.rank());
  const int64_t dim = args.attrs().integer("iota_dimension");
  if (dim < 0 || dim >= result.rank()) {
    args.fail(fmt::format("iota_dimension = {}: {} has no such dimension", dim, to_string(result)));
  }
  return {result};
}

Value* make(GraphBuilder& b, const Op& op, const Values&, const ops::DynamicOperands& known) {
  return ops::iota(b, {op.result()->type.dtype, known.result_shape(0)}, op.attrs().integer("iota_dimension"));
}

std::vector<Sample> samples() {
  return {
      ops::dynamic_sample("",
                          "  %s = stablehlo.constant dense<[3, 4]> : tensor<2xi64>\n"
                          "  %r = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi64>) -> tensor<3x4xf32>",
                          "tensor<3x4xf32>"),
      ops::dynamic_sample("%s: tensor<1xi32>",
                          "  %r = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<5xi64>",
                          "tensor<5xi64>"),
  };
}

}  // namespace

extern const OpDef kDynamicIota = ops::dynamic<make>({
    .name = "stablehlo.dynamic_iota",
    .doc = "Each element is its index in the dimension iota_dimension; the operand says the shape.",
    .assembly = "operands `,` `dim` `=` int(iota_dimension) attr-dict :functional",
    .infer = infer,
    .samples = samples,
});

}  // namespace ingot::dynamic_iota_op
