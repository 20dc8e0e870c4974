// stablehlo.complex, real, imag: complex numbers from parts and back.
#include <fmt/format.h>

#include "aot/ops/support/complex/complex_term.h"
#include "aot/ops/support/infer.h"

namespace ingot::complex_op {
namespace {

std::vector<TensorType> infer_complex(const InferArgs& args) {
  const TensorType type = infer_same(args, 2, kFloats)[0];
  if (info(type.dtype).bits < 32) args.fail(fmt::format("there are no complex numbers of {}", to_string(type)));
  return {{complex_of(type.dtype), type.shape}};
}

std::vector<TensorType> infer_part(const InferArgs& args) {
  const TensorType type = infer_same(args, 1, kFloats | kComplex)[0];
  return {{part_of(type.dtype), type.shape}};
}

std::vector<RefTensor> evaluate_complex(const EvaluateArgs& args) {
  RefTensor z(args.result_type());
  for (int64_t k = 0; k < z.elements(); ++k) z.set_complex(k, {args.inputs[0].f[k], args.inputs[1].f[k]});
  return {std::move(z)};
}

template <bool is_real>
std::vector<RefTensor> evaluate_part(const EvaluateArgs& args) {
  const RefTensor& z = args.inputs[0];
  RefTensor x(args.result_type());
  for (int64_t k = 0; k < x.elements(); ++k) {
    x.f[k] = z.is_complex() ? z.f[2 * k + (is_real ? 0 : 1)] : is_real ? z.f[k] : 0;
  }
  return {std::move(x)};
}

std::vector<Parts> split_complex(SplitArgs& args) { return {{args.re(0), args.re(1)}}; }
std::vector<Parts> split_real(SplitArgs& args) { return {{args.re(0)}}; }
std::vector<Parts> split_imag(SplitArgs& args) { return {{args.im(0)}}; }

// Of a real number.
loops::Expr element_real(loops::ElementArgs& args) { return args.operand(0); }
loops::Expr element_imag(loops::ElementArgs& args) { return args.b.constant(loops::register_dtype(args.dtype()), 0.0); }

Values gradient_real(GradientArgs& args) { return {args.dy()}; }

std::vector<Sample> complex_samples() {
  std::vector<Sample> samples;
  for (const DType part : {DType::kF32, DType::kF64}) {
    const TensorType x{part, {3, 4}}, z{complex_of(part), {3, 4}};
    samples.push_back({.text = sample_text({x, x}, z, "stablehlo.complex %a0, %a1 : " + to_string(z)),
                       .specials = true,
                       .differentiable = false});
  }
  return samples;
}

std::vector<Sample> part_samples(std::string_view name) {
  std::vector<Sample> samples;
  for (const DType dtype : {DType::kC64, DType::kC128, DType::kF64}) {
    const TensorType z{dtype, {3, 4}}, x{part_of(dtype), {3, 4}};
    const std::string op = fmt::format("{} %a0 : ({}) -> {}", name, to_string(z), to_string(x));
    samples.push_back(
        {.text = sample_text({z}, x, op), .specials = is_complex(dtype), .differentiable = !is_complex(dtype)});
  }
  return samples;
}

}  // namespace

extern const OpDef kComplexOf = {
    .name = "stablehlo.complex",
    .doc = "x + iy.",
    .assembly = "operands attr-dict :result",
    .infer = infer_complex,
    .evaluate = evaluate_complex,
    .split = split_complex,
    .samples = complex_samples,
    .root = KernelRoot::kNone,
    .is_elementwise = true,
};

extern const OpDef kReal = {
    .name = "stablehlo.real",
    .doc = "The real part of z.",
    .assembly = "operands attr-dict :functional",
    .infer = infer_part,
    .evaluate = evaluate_part<true>,
    .gradient = gradient_real,
    .split = split_real,
    .samples = [] { return part_samples("stablehlo.real"); },
    .element = element_real,
    .is_elementwise = true,
};

extern const OpDef kImag = {
    .name = "stablehlo.imag",
    .doc = "The imaginary part of z; 0 where z is real.",
    .assembly = "operands attr-dict :functional",
    .infer = infer_part,
    .evaluate = evaluate_part<false>,
    .zero_gradient = true,
    .split = split_imag,
    .samples = [] { return part_samples("stablehlo.imag"); },
    .element = element_imag,
    .is_elementwise = true,
};

}  // namespace ingot::complex_op
