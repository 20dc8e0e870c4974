#include <fmt/format.h>

#include "aot/ops/support/complex/split.h"
#include "aot/ops/support/elementwise.h"
#include "aot/ops/support/infer.h"

namespace ingot::convert_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  const TensorType& type = args.declared_result();
  if (type.shape != args.operands[0].shape) {
    args.fail(fmt::format("changes the element type only, but gets {} and gives {}", to_string(args.operands[0]),
                          to_string(type)));
  }
  return {type};
}

// Toward zero; saturates; NaN gives 0. i1: whether x is not 0.
int64_t to_integer(double x, DType dtype) {
  if (is_bool(dtype)) return x != 0;
  if (std::isnan(x)) return 0;
  const int bits = info(dtype).bits;
  const double limit = std::ldexp(1.0, is_signed(dtype) ? bits - 1 : bits);  // one above the greatest value
  const double least = is_signed(dtype) ? -limit : 0;
  if (x <= least) return static_cast<int64_t>(least);
  if (x >= limit) return static_cast<int64_t>(~uint64_t{0} >> (is_signed(dtype) ? 65 - bits : 64 - bits));
  return is_signed(dtype) ? static_cast<int64_t>(x) : static_cast<int64_t>(static_cast<uint64_t>(x));
}

// Exact up to 2^53. Beyond, for narrower floats, rounded to odd, so that rounding once more gives the nearest.
double to_float(int64_t x, DType from, DType to) {
  const bool is_negative = is_signed(from) && x < 0;
  uint64_t magnitude = is_negative ? -static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
  if (to != DType::kF64 && magnitude >> 53)
    magnitude = (magnitude & ~uint64_t{0x7FF}) | ((magnitude & 0x7FF) ? 0x800 : 0);
  return (is_negative ? -1.0 : 1.0) * static_cast<double>(magnitude);
}

RefTensor from_parts(const TensorType& type, const RefTensor& x) {
  RefTensor y(type);
  for (int64_t k = 0; k < y.elements(); ++k) {
    y.set_complex(k, x.is_complex() ? x.complex_at(k)
                     : x.is_float() ? x.f[k]
                                    : to_float(x.i[k], x.type.dtype, part_of(type.dtype)));
  }
  return y;
}

RefTensor real_part(const TensorType& type, const RefTensor& x) {
  RefTensor y(type);
  for (int64_t k = 0; k < y.elements(); ++k) {
    if (y.is_float()) {
      y.f[k] = x.f[2 * k];
    } else {
      y.i[k] = to_integer(x.f[2 * k], type.dtype);
    }
  }
  return y;
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor& x = args.inputs[0];
  RefTensor y(args.result_type());
  if (y.is_complex()) return {from_parts(y.type, x)};
  if (x.is_complex()) return {real_part(y.type, x)};
  for (int64_t k = 0; k < y.elements(); ++k) {
    if (y.is_float()) {
      y.f[k] = x.is_float() ? x.f[k] : to_float(x.i[k], x.type.dtype, y.type.dtype);
    } else if (x.is_float()) {
      y.i[k] = to_integer(x.f[k], y.type.dtype);
    } else {
      y.i[k] = x.i[k];
    }
  }
  return {std::move(y)};
}

// dx = dy, converted back; integers carry no gradient
Values gradient(GradientArgs& args) {
  const DType from = args.operand(0)->type.dtype;
  if (!args.needed[0] || !is_float(from) || !is_float(args.result()->type.dtype)) return {nullptr};
  return {ops::convert(args.b, args.dy(), from)};
}

// Beyond 2^53, which f64 does not hold, rounded to odd: rounding once more gives the nearest (to_float).
Scalar to_odd(const Scalar& x) {
  const double greatest = 0x1p53;
  const Scalar odd = (x & -0x800) | where(equal(x & 0x7FF, 0), 0, x.like(0x800));
  const Scalar is_below = x <= greatest;
  return where(is_signed(x.dtype()) ? is_below & (x >= -greatest) : is_below, x, odd);
}

// To f16 and bf16, which hold integers of 8 bits, others by way of a float that holds them exactly, to round once.
loops::Expr element(loops::ElementArgs& args) {
  const DType to = args.dtype(), to_register = loops::register_dtype(to);
  loops::Expr x = args.operand(0);
  const int bits = info(x->dtype).bits;
  if (to_register == to || bits <= 8) return args.b.convert(to_register, x);
  if (!is_float(x->dtype)) {
    if (bits == 64 && to == DType::kBF16) x = to_odd({args.b, x});
    x = args.b.convert(bits < 32 ? DType::kF32 : DType::kF64, x);
  }
  return args.b.convert(to_register, args.b.round(to, x));
}

std::vector<Parts> split(SplitArgs& args) {
  const DType part = part_of(args.op.result()->type.dtype);
  Value* re = ops::convert(args.b, args.re(0), part);
  if (part == args.op.result()->type.dtype) return {{re}};
  return {{re, args.im(0) ? ops::convert(args.b, args.im(0), part) : ops::zeros_like(args.b, re)}};
}

std::vector<Sample> samples() {
  constexpr DType kDTypes[] = {DType::kF64, DType::kF32, DType::kF16,  DType::kBF16, DType::kI64, DType::kI32,
                               DType::kI8,  DType::kI4,  DType::kUI64, DType::kUI32, DType::kUI8, DType::kI1};
  std::vector<Sample> samples;
  for (const DType from : kDTypes) {
    for (const DType to : kDTypes) {
      if (from == to) continue;
      const TensorType x{from, {37}}, y{to, {37}};
      samples.push_back(
          {.text = sample_text({x}, y, fmt::format("stablehlo.convert %a0 : ({}) -> {}", to_string(x), to_string(y))),
           .low = -300,
           .high = 300,
           .specials = true,
           .differentiable = false});
    }
  }
  for (const DType other : {DType::kC128, DType::kF64, DType::kF32, DType::kI64, DType::kI1}) {
    for (const bool is_from : {true, false}) {
      const TensorType x{is_from ? DType::kC64 : other, {7}}, y{is_from ? other : DType::kC64, {7}};
      samples.push_back(
          {.text = sample_text({x}, y, fmt::format("stablehlo.convert %a0 : ({}) -> {}", to_string(x), to_string(y)))});
      samples.back().differentiable = false;
    }
  }
  const TensorType x{DType::kF64, {2, 3}}, y{DType::kF32, {2, 3}};
  samples.push_back(
      {.text = sample_text({x}, y, fmt::format("stablehlo.convert %a0 : ({}) -> {}", to_string(x), to_string(y)))});
  return samples;
}

}  // namespace

extern const OpDef kConvert = {
    .name = "stablehlo.convert",
    .doc =
        "x in another element type. Floats become integers toward zero, saturating, NaN as 0; integers wrap; i1 is x "
        "!= 0. Complex numbers become real by losing their imaginary part.",
    .assembly = "operands attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .gradient = gradient,
    .split = split,
    .samples = samples,
    .element = element,
    .is_elementwise = true,
};

}  // namespace ingot::convert_op
