#include "aot/ops/support/complex/complex_term.h"

namespace ingot::abs_op {
namespace {

double value(double x) { return std::abs(x); }
int64_t value(int64_t x, DType) { return x < 0 ? static_cast<int64_t>(-static_cast<uint64_t>(x)) : x; }

constexpr auto parts = [](ComplexTerm z) { return hypot(z.re, z.im); };

std::vector<TensorType> infer(const InferArgs& args) {
  const TensorType type = infer_same(args, 1, kFloats | kSignedIntegers | kComplex)[0];
  return {{part_of(type.dtype), type.shape}};
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  if (!args.inputs[0].is_complex()) return map_unary(args, value, value);
  RefTensor y(args.result_type());
  for (int64_t k = 0; k < y.elements(); ++k) y.f[k] = std::abs(args.inputs[0].complex_at(k));
  return {std::move(y)};
}

// dx = dy sign(x)
constexpr auto dx = [](Term x, Term, Term dy) { return dy * sign(x); };

std::vector<Sample> samples() {
  std::vector<Sample> samples = unary_samples("stablehlo.abs", kFloats | kSignedIntegers, {-100, 100}, Range{-3, 3});
  for (const DType dtype : {DType::kC64, DType::kC128}) {
    const TensorType x{dtype, {37}}, y{part_of(dtype), {37}};
    samples.push_back({.text = sample_text({x}, y, "stablehlo.abs %a0 : (" + to_string(x) + ") -> " + to_string(y)),
                       .differentiable = false});
  }
  return samples;
}

}  // namespace

extern const OpDef kAbs = {
    .name = "stablehlo.abs",
    .doc = "y = |x|; of a complex number, a real one.",
    .assembly = "operands attr-dict :same",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = unary_gradient<dx>,
    .split = ops::split_function<parts>,
    .samples = samples,
    .element = element_of<ScalarOp::kAbs>,
    .is_elementwise = true,
};

}  // namespace ingot::abs_op
