// ingot.pack_bytes: four neighbours in one word, as products of bytes take them.
#include <fmt/format.h>

#include "aot/base/divide.h"
#include "aot/loops/element.h"
#include "aot/ops/support/axes.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::pack_bytes_op {
namespace {

constexpr int64_t kBytes = 4;

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  const TensorType& x = args.operands[0];
  if (x.dtype != DType::kI8 && x.dtype != DType::kUI8) args.fail(fmt::format("{} has no bytes", to_string(x)));
  const int64_t dimension = args.attrs().integer("dimension");
  ops::check_dims(args, "dimension", {dimension}, x.rank());
  TensorType result{DType::kI32, x.shape};
  result.shape[dimension] = divide_up(x.shape[dimension], kBytes);
  return {result};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& x = args.inputs[0];
  const int64_t dimension = args.attrs().integer("dimension");
  RefTensor result(args.result_type());
  const Shape strides = row_major_strides(result.type.shape);
  ops::for_each_index(x.type.shape, [&](Shape at, int64_t k) {
    const int64_t shift = 8 * (at[dimension] % kBytes);
    at[dimension] /= kBytes;
    int64_t& word = result.i[linear_index(at, strides)];
    word = static_cast<int32_t>(static_cast<uint32_t>(word) | static_cast<uint32_t>(x.i[k] & 0xFF) << shift);
  });
  return {result};
}

loops::Expr element(loops::ElementArgs& args) {
  using loops::ScalarOp;
  loops::KernelBuilder& b = args.b;
  const int64_t dimension = args.op.attrs().integer("dimension");
  const int64_t extent = args.op.operand(0)->type.shape[dimension];
  loops::Expr word = nullptr;
  for (int64_t byte = 0; byte < kBytes; ++byte) {
    std::vector<loops::Index> at = args.index;
    at[dimension] = at[dimension] * kBytes + byte;
    const loops::Expr exists = b.in_range(at[dimension], 0, extent);
    loops::Expr x = b.convert(DType::kI32, b.convert(DType::kUI8, args.operand_if(0, at, exists)));
    if (exists) x = b.apply(ScalarOp::kSelect, {exists, x, b.constant_int(DType::kI32, 0)});
    x = b.apply(ScalarOp::kShiftLeft, {x, b.constant_int(DType::kI32, 8 * byte)});
    word = word ? b.apply(ScalarOp::kOr, {word, x}) : x;
  }
  return word;
}

std::vector<Sample> samples() {
  const auto sample = [](const std::string& from, int dimension, const std::string& to) {
    return Sample{
        .text = ops::single_op("%x: " + from,
                               fmt::format("ingot.pack_bytes %x, dim = {} : ({}) -> {}", dimension, from, to), to),
        .integer_low = -128,
        .integer_high = 127};
  };
  return {
      sample("tensor<16xi8>", 0, "tensor<4xi32>"),          sample("tensor<3x35xi8>", 1, "tensor<3x9xi32>"),
      sample("tensor<5x2x37xi8>", 0, "tensor<2x2x37xi32>"), sample("tensor<2x6x5xui8>", 1, "tensor<2x2x5xi32>"),
      sample("tensor<0x3xui8>", 0, "tensor<0x3xi32>"),
  };
}

}  // namespace

extern const OpDef kPackBytes = {
    .name = "ingot.pack_bytes",
    .doc =
        "Four neighbours along a dimension in each word, the first as its lowest byte; zeros where there are none "
        "left.",
    .assembly = "operands `,` `dim` `=` int(dimension) attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .zero_gradient = true,
    .samples = samples,
    .element = element,
    .axes = &ops::kNumberedAxes,
    .flops = 7,
};

}  // namespace ingot::pack_bytes_op
