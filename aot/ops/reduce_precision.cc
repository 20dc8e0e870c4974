#include <fmt/format.h>

#include "aot/loops/float_bits.h"
#include "aot/ops/support/elementwise.h"

namespace ingot::reduce_precision_op {
namespace {

using loops::FloatFormat;

FloatFormat target_format(const Attrs& attrs) {
  return {static_cast<int>(attrs.integer("exponent_bits")), static_cast<int>(attrs.integer("mantissa_bits"))};
}

std::vector<TensorType> infer(const InferArgs& args) {
  const auto [exponent_bits, mantissa_bits] = target_format(args.attrs());
  if (exponent_bits < 1) args.fail(fmt::format("exponent_bits must be at least 1, not {}", exponent_bits));
  if (mantissa_bits < 0) args.fail(fmt::format("mantissa_bits must be at least 0, not {}", mantissa_bits));
  return infer_same(args, 1, kFloats);
}

// To the nearest, of two equally near ones to that whose last bit is 0: of the mantissa, or without one of the
// exponent, which is `bias` more than it says. What is beyond the greatest exponent becomes infinite, what is below the
// least one zero (the target has no denormals, unless its exponents are those of x). NaN has no place without a
// mantissa: it becomes infinite.
double reduce(double x, const FloatFormat& from, const FloatFormat& to) {
  if (std::isnan(x) && to.mantissa_bits == 0) return std::copysign(INFINITY, x);
  if (!std::isfinite(x) || x == 0) return x;
  double y = x;
  if (to.mantissa_bits < from.mantissa_bits) {
    const int exponent = std::max(std::ilogb(x), 1 - from.bias());
    const double scaled = std::ldexp(x, to.mantissa_bits - exponent);
    const bool stays = to.mantissa_bits == 0 && std::abs(scaled) == 1.5 && (exponent + from.bias()) % 2 == 0;
    y = std::ldexp(stays ? std::copysign(1, x) : std::nearbyint(scaled), exponent - to.mantissa_bits);
  }
  if (to.exponent_bits < from.exponent_bits) {
    if (std::abs(y) >= std::ldexp(1, to.bias() + 1)) return std::copysign(INFINITY, x);
    if (std::abs(y) < std::ldexp(1, 1 - to.bias())) return std::copysign(0, x);
  }
  return y;
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& x = args.inputs[0];
  const DType dtype = is_narrow_float(x.type.dtype) ? DType::kF32 : x.type.dtype;  // computed in f32
  const FloatFormat from = loops::format_of(dtype), to = target_format(args.attrs());
  RefTensor y(args.result_type());
  for (int64_t k = 0; k < y.elements(); ++k) y.f[k] = reduce(x.f[k], from, to);
  return {std::move(y)};
}

// dx = dy, in the same precision
Values gradient(GradientArgs& args) {
  if (!args.needed[0]) return {nullptr};
  return {args.b.make(kReducePrecision, {args.dy()}, args.op.attr_map)};
}

// The same on the bits of x: adding just under half of the last kept place (half of it when that place is odd) rounds,
// with the carry running into the exponent.
loops::Expr element(loops::ElementArgs& args) {
  const DType dtype = args.dtype();
  const FloatFormat from = loops::format_of(dtype), to = target_format(args.op.attrs());
  const Scalar x(args.b, args.operand(0));
  const Scalar x_bits = loops::bits_of(x, dtype);
  const Scalar sign = x_bits & x_bits.bits(uint64_t{1} << (from.exponent_bits + from.mantissa_bits));
  const Scalar infinity = x_bits.bits(((uint64_t{1} << from.exponent_bits) - 1) << from.mantissa_bits);
  Scalar y = x_bits;
  if (to.mantissa_bits < from.mantissa_bits) {
    const int dropped = from.mantissa_bits - to.mantissa_bits;
    const uint64_t last_place = uint64_t{1} << dropped;
    const Scalar is_odd = (y >> dropped) & 1;
    y = (y + is_odd + y.bits(last_place / 2 - 1)) & y.bits(~(last_place - 1));
  }
  if (to.exponent_bits < from.exponent_bits) {
    const auto exponent = [&](uint64_t biased) { return y.bits(biased << from.mantissa_bits); };
    const Scalar magnitude = y & infinity;
    const Scalar at_most = where(magnitude > exponent(from.bias() + to.bias()), sign | infinity, y);
    y = where(magnitude <= exponent(from.bias() - to.bias()), sign, at_most);
  }
  const Scalar nan = to.mantissa_bits == 0 ? loops::value_of_bits(sign | infinity, dtype) : x;
  return where(is_nan(x), nan, loops::value_of_bits(y, dtype));
}

std::vector<Sample> samples() {
  // Halfway between powers of two.
  std::vector<Sample> samples{{.text = "func.func @main(%unread: tensor<1xi32>) -> tensor<6xf32> {\n"
                                       "  %x = stablehlo.constant dense<[0.75, 1.5, -3.0, -6.0, 1.25, 1.75]> : "
                                       "tensor<6xf32>\n"
                                       "  %0 = stablehlo.reduce_precision %x, format = e8m0 : tensor<6xf32>\n"
                                       "  return %0 : tensor<6xf32>\n}\n",
                               .differentiable = false}};
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    for (const std::string_view format : {"e5m10", "e8m7", "e8m0", "e2m3", "e11m3"}) {
      const TensorType type{dtype, {37}};
      samples.push_back(
          {.text = sample_text(
               {type}, type, fmt::format("stablehlo.reduce_precision %a0, format = {} : {}", format, to_string(type))),
           .low = -1e5,
           .high = 1e5,
           .specials = true,
           .differentiable = false});
      samples.push_back(samples.back());
      samples.back().low = -3;
      samples.back().high = 3;
    }
  }
  return samples;
}

}  // namespace

extern const OpDef kReducePrecision = {
    .name = "stablehlo.reduce_precision",
    .doc = "x rounded as by a trip through a float type of exponent_bits and mantissa_bits.",
    .assembly = "operands `,` `format` `=` custom(exponent_mantissa) attr-dict :same",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .samples = samples,
    .element = element,
    .is_elementwise = true,
    .flops = 6,
};

}  // namespace ingot::reduce_precision_op
