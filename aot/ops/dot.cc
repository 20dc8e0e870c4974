// stablehlo.dot: vectors and matrices multiplied; what dot_general was before it was general.
#include <fmt/format.h>

#include "aot/ops/support/build.h"
#include "aot/ops/support/contraction.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/product.h"
#include "aot/ops/support/samples.h"

namespace ingot::dot_op {
namespace {

bool is_vector_or_matrix(const TensorType& type) { return type.rank() == 1 || type.rank() == 2; }

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 2);
  const TensorType& x = args.operands[0];
  const TensorType& y = args.operands[1];
  if (!is_vector_or_matrix(x) || !is_vector_or_matrix(y) || x.shape.back() != y.shape.front()) {
    args.fail(
        fmt::format("{} and {} are not vectors or matrices to be multiplied: the last dimension of the first "
                    "must be the first of the second",
                    to_string(x), to_string(y)));
  }
  TensorType result{ops::product_dtype(args), x.shape};
  result.shape.pop_back();
  result.shape.insert(result.shape.end(), y.shape.begin() + 1, y.shape.end());
  return {result};
}

// Vectors are matrices of one row, on the left, or of one column.
template <typename T, typename Sum>
void multiply(const EvaluateArgs& args, const std::vector<T>& x, const std::vector<T>& y, std::vector<Sum>& out) {
  const int64_t depth = args.inputs[1].type.shape.front();
  if (depth == 0 || out.empty()) return;
  const auto rows = static_cast<int64_t>(x.size()) / depth, columns = static_cast<int64_t>(y.size()) / depth;
  const ops::MultiplyAdd multiply_add(args);
  for (int64_t m = 0; m < rows; ++m) {
    for (int64_t n = 0; n < columns; ++n) {
      for (int64_t k = 0; k < depth; ++k) multiply_add(out[m * columns + n], x[m * depth + k], y[k * columns + n]);
    }
  }
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  return ops::sums_of_products(args, [](auto&&... operands) { multiply(operands...); });
}

Values expand(ExpandArgs& args) {
  AttrMap attrs = args.op.attr_map;
  attrs.emplace("dot_dimension_numbers", ops::to_attr(ops::DotDims{{}, {}, {args.operand(0)->type.rank() - 1}, {0}}));
  return {args.b.make(kDotGeneral, args.op.operands, attrs, {args.op.result()->type})};
}

std::vector<Sample> samples() {
  const auto dot = [](const std::string& x, const std::string& y, const std::string& to) {
    return Sample{.text = ops::single_op("%x: " + x + ", %y: " + y,
                                         "stablehlo.dot %x, %y : (" + x + ", " + y + ") -> " + to, to)};
  };
  return {
      dot("tensor<3x5xf32>", "tensor<5x4xf32>", "tensor<3x4xf32>"),
      dot("tensor<5xf32>", "tensor<5xf32>", "tensor<f32>"),
      dot("tensor<5xf64>", "tensor<5x4xf64>", "tensor<4xf64>"),
      dot("tensor<3x5xi32>", "tensor<5xi32>", "tensor<3xi32>"),
      dot("tensor<3x5xbf16>", "tensor<5x2xbf16>", "tensor<3x2xf32>"),
      dot("tensor<3x0xf32>", "tensor<0x4xf32>", "tensor<3x4xf32>"),
  };
}

}  // namespace

extern const OpDef kDot = {
    .name = "stablehlo.dot",
    .doc =
        "The product of two vectors or matrices: sums over the last dimension of the first, the first of the second.",
    .assembly = "operands custom(precision) attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .expand = expand,
    .samples = samples,
    .root = KernelRoot::kNone,
    .ulp = {.f32 = 4, .f64 = 2},
    .mixes_float_and_quantized = true,
};

}  // namespace ingot::dot_op
