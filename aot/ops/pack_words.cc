// ingot.pack_words: neighbours in one word, four bytes or two bf16, as products of them take these.
#include <fmt/format.h>

#include "aot/base/divide.h"
#include "aot/graph/literal.h"
#include "aot/loops/algebra.h"
#include "aot/loops/element.h"
#include "aot/loops/float_bits.h"
#include "aot/ops/support/axes.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::pack_words_op {
namespace {

constexpr int64_t kWordBits = 32;

int64_t per_word(DType dtype) { return kWordBits / info(dtype).bits; }

uint32_t bits_of(const RefTensor& x, int64_t element) {
  if (!x.is_float()) return static_cast<uint32_t>(x.i[element] & 0xFF);
  std::byte bytes[sizeof(uint32_t)] = {};
  store_float(x.type.dtype, x.f[element], bytes);
  return std::bit_cast<uint32_t>(bytes);
}

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  const TensorType& x = args.operands[0];
  if (x.dtype != DType::kI8 && x.dtype != DType::kUI8 && x.dtype != DType::kBF16)
    args.fail(fmt::format("{} has neither bytes nor bf16", to_string(x)));
  const int64_t dimension = args.attrs().integer("dimension");
  ops::check_dims(args, "dimension", {dimension}, x.rank());
  TensorType result{DType::kI32, x.shape};
  result.shape[dimension] = divide_up(x.shape[dimension], per_word(x.dtype));
  return {result};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& x = args.inputs[0];
  const int64_t dimension = args.attrs().integer("dimension");
  const int64_t count = per_word(x.type.dtype);
  RefTensor result(args.result_type());
  const Shape strides = row_major_strides(result.type.shape);
  ops::for_each_index(x.type.shape, [&](Shape at, int64_t k) {
    const int64_t shift = info(x.type.dtype).bits * (at[dimension] % count);
    at[dimension] /= count;
    int64_t& word = result.i[linear_index(at, strides)];
    word = static_cast<int32_t>(static_cast<uint32_t>(word) | bits_of(x, k) << shift);
  });
  return {result};
}

loops::Expr element(loops::ElementArgs& args) {
  using loops::Scalar, loops::ScalarOp;
  loops::KernelBuilder& b = args.b;
  const DType dtype = args.op.operand(0)->type.dtype, bits = is_float(dtype) ? DType::kUI16 : DType::kUI8;
  const int64_t dimension = args.op.attrs().integer("dimension");
  const int64_t extent = args.op.operand(0)->type.shape[dimension];
  const int64_t count = per_word(dtype);
  loops::Expr word = nullptr;
  for (int64_t part = 0; part < count; ++part) {
    std::vector<loops::Index> at = args.index;
    at[dimension] = at[dimension] * count + part;
    const loops::Expr exists = b.in_range(at[dimension], 0, extent);
    const Scalar element(b, args.operand_if(0, at, exists));
    const Scalar narrow = is_float(dtype) ? loops::bits_of(element, dtype) : element.convert(bits);
    loops::Expr x = narrow.convert(DType::kI32);
    if (exists) x = b.apply(ScalarOp::kSelect, {exists, x, b.constant_int(DType::kI32, 0)});
    x = b.apply(ScalarOp::kShiftLeft, {x, b.constant_int(DType::kI32, part * info(dtype).bits)});
    word = word ? b.apply(ScalarOp::kOr, {word, x}) : x;
  }
  return word;
}

std::vector<Sample> samples() {
  const auto sample = [](const std::string& from, int dimension, const std::string& to) {
    return Sample{
        .text = ops::single_op("%x: " + from,
                               fmt::format("ingot.pack_words %x, dim = {} : ({}) -> {}", dimension, from, to), to),
        .integer_low = -128,
        .integer_high = 127};
  };
  return {
      sample("tensor<16xi8>", 0, "tensor<4xi32>"),          sample("tensor<3x35xi8>", 1, "tensor<3x9xi32>"),
      sample("tensor<5x2x37xi8>", 0, "tensor<2x2x37xi32>"), sample("tensor<2x6x5xui8>", 1, "tensor<2x2x5xi32>"),
      sample("tensor<0x3xui8>", 0, "tensor<0x3xi32>"),      sample("tensor<32xbf16>", 0, "tensor<16xi32>"),
      sample("tensor<3x35xbf16>", 1, "tensor<3x18xi32>"),   sample("tensor<5x2x37xbf16>", 0, "tensor<3x2x37xi32>"),
  };
}

}  // namespace

extern const OpDef kPackWords = {
    .name = "ingot.pack_words",
    .doc =
        "Neighbours along a dimension in each word, four bytes or two bf16, the first as its lowest bits; zeros where "
        "there are none left.",
    .assembly = "operands `,` `dim` `=` int(dimension) attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .zero_gradient = true,
    .samples = samples,
    .element = element,
    .axes = &ops::kNumberedAxes,
    .flops = 7,
};

}  // namespace ingot::pack_words_op
