// stablehlo.iota: 0, 1, 2, ... along a dimension.
#include <fmt/format.h>

#include <limits>

#include "aot/loops/element.h"
#include "aot/ops/support/axes.h"
#include "aot/ops/support/build.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::iota_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 0);
  const TensorType& type = args.declared_result();
  const int64_t dim = args.attrs().integer("iota_dimension");
  if (dim < 0 || dim >= type.rank()) {
    args.fail(fmt::format("iota_dimension = {}: {} has no such dimension", dim, to_string(type)));
  }
  if (is_bool(type.dtype)) args.fail("the result must be of numbers, not i1");
  return {type};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const int64_t dim = args.attrs().integer("iota_dimension");
  RefTensor result(args.result_type());
  ops::for_each_index(result.type.shape, [&](const Shape& at, int64_t k) {
    if (result.is_float()) {
      result.f[k] = static_cast<double>(at[dim]);
    } else if (result.is_complex()) {
      result.set_complex(k, static_cast<double>(at[dim]));
    } else {
      result.i[k] = at[dim];
    }
  });
  return {result};
}

loops::Expr element(loops::ElementArgs& args) {
  const int64_t dim = args.op.attrs().integer("iota_dimension");
  const TensorType& type = args.op.result()->type;
  // i32 halves the registers that an index takes.
  const bool is_small = type.shape[dim] <= std::numeric_limits<int32_t>::max();
  loops::Expr index = args.b.index_value(args.index[dim], is_small ? DType::kI32 : DType::kI64);
  const DType dtype = loops::register_dtype(type.dtype);
  loops::Expr value = dtype == index->dtype ? index : args.b.convert(dtype, index);
  return dtype == type.dtype ? value : args.b.round(type.dtype, value);
}

std::vector<Parts> split(SplitArgs& args) {
  const TensorType type{part_of(args.op.result()->type.dtype), args.op.result()->type.shape};
  Value* re = ops::iota(args.b, type, args.attrs().integer("iota_dimension"));
  return {{re, ops::zeros_like(args.b, re)}};
}

std::vector<Sample> samples() {
  const auto iota = [](int dim, const std::string& type) {
    return Sample{.text = ops::single_op("", "stablehlo.iota dim = " + std::to_string(dim) + " : " + type, type)};
  };
  return {
      iota(0, "tensor<4x5xi32>"),          iota(1, "tensor<4x5xi32>"),
      iota(1, "tensor<3x17x2xf32>"),       iota(0, "tensor<9xf64>"),
      iota(0, "tensor<300xbf16>"),         iota(0, "tensor<9xf16>"),
      iota(0, "tensor<300xui8>"),          iota(0, "tensor<20xi4>"),
      iota(1, "tensor<2x3x2xi64>"),        iota(0, "tensor<0xi32>"),
      iota(1, "tensor<2x5xcomplex<f32>>"),
  };
}

}  // namespace

extern const OpDef kIota = {
    .name = "stablehlo.iota",
    .doc = "Each element is its index in the dimension iota_dimension.",
    .assembly = "`dim` `=` int(iota_dimension) attr-dict :result",
    .infer = infer,
    .evaluate = evaluate,
    .zero_gradient = true,
    .split = split,
    .samples = samples,
    .element = element,
    .axes = &ops::kNumberedAxes,
    .flops = 0,
};

}  // namespace ingot::iota_op
