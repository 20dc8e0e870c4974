#include "aot/base/special_functions.h"
#include "aot/ops/support/elementwise.h"

namespace ingot::polygamma_op {
namespace {

constexpr int kMostFactorial = 170;  // 171! is infinite in f64

// n! in f64 for a tensor of whole numbers: out of a table.
Value* factorial(GraphBuilder& b, Term n) {
  RefTensor table({DType::kF64, {kMostFactorial + 2}});
  for (size_t k = 0; k < table.f.size(); ++k) table.f[k] = std::tgamma(static_cast<double>(k) + 1);
  Value* values = ops::constant(b, to_literal(table));
  Shape index_shape = n.shape();
  index_shape.push_back(1);
  Value* indices = ops::reshape(b, ops::convert(b, n, DType::kI32), index_shape);
  ops::IndexedDims dims;
  dims.dropped_dims = dims.index_map = {0};
  dims.index_vector_dim = static_cast<int64_t>(n.shape().size());
  return ops::gather(b, values, indices, dims, {1});
}

// In f64: (-1)^(n + 1) n! zeta(n + 1, x), and digamma(x) for n = 0.
Values expand(ExpandArgs& args) {
  GraphBuilder& b = args.b;
  const auto wide = [&](int i) { return Term(b, ops::convert(b, args.operand(i), DType::kF64)); };
  const Term n = wide(0), x = wide(1);
  const Term half = n * 0.5;
  const Term magnitude = Term(b, factorial(b, n)) * (n + 1).binary(kZeta, x);
  const Term with_sign = where(equal(half.unary(kFloor), half), -magnitude, magnitude);
  const Term value = where(equal(n, n.like(0)), x.unary(kDigamma), with_sign);
  const Term is_natural = both(equal(n.unary(kFloor), n), n >= n.like(0));
  return {ops::convert(b, where(is_natural, value, NAN), args.op.result()->type.dtype)};
}

// dx = dz polygamma(n + 1, x); nothing flows back to n, which is whole
Values gradient(GradientArgs& args) {
  if (!args.needed[1]) return {nullptr, nullptr};
  const Term n(args.b, args.operand(0)), x(args.b, args.operand(1)), dz(args.b, args.dy());
  return {nullptr, dz * (n + 1).binary(kPolygamma, x)};
}

std::vector<Sample> samples() {
  std::vector<Sample> samples = binary_samples("chlo.polygamma", kFloats, {0, 10});
  for (const char* dtype : {"f32", "f64", "bf16"}) {
    const std::string type = std::string("tensor<3x7x") + dtype + ">";
    samples.push_back({.text = "func.func @main(%x: " + type + ") -> " + type +
                               " {\n  %n = stablehlo.constant dense<3.0> : " + type +
                               "\n  %r = chlo.polygamma %n, %x : " + type + ", " + type + " -> " + type +
                               "\n  return %r : " + type + "\n}\n",
                       .low = 0.5,
                       .high = 20});
  }
  return samples;
}

}  // namespace

extern const OpDef kPolygamma = chlo_binary<kFloats>({
    .name = "chlo.polygamma",
    .doc = "The n-th derivative of digamma(x) for whole n >= 0, else NaN; the operands are n, x.",
    .evaluate = evaluate_binary<polygamma>,
    .gradient = gradient,
    .expand = expand,
    .samples = samples,
    .root = KernelRoot::kNone,
    .ulp = {.f32 = 1, .f64 = 8},
});

}  // namespace ingot::polygamma_op
