#include "aot/graph/float_bits.h"
#include "aot/loops/float_bits.h"
#include "aot/ops/support/elementwise.h"

namespace ingot::next_after_op {
namespace {

std::vector<TensorType> infer(const InferArgs& args) {
  const std::vector<TensorType> types = infer_same(args, 2, kFloats);
  if (is_narrow_float(types[0].dtype)) {
    throw_limit(args.location,
                "chlo.next_after of floats of 8 bits and fewer is not supported; of f16 and wider ones it is");
  }
  return types;
}

std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const RefTensor &x = args.inputs[0], &y = args.inputs[1];
  const DType dtype = x.type.dtype;
  RefTensor z(args.result_type());
  for (int64_t k = 0; k < z.elements(); ++k) {
    const double from = x.f[k], to = y.f[k];
    if (std::isnan(from) || std::isnan(to)) {
      z.f[k] = NAN;
    } else if (from == to) {
      z.f[k] = to;
    } else if (from == 0) {
      z.f[k] = std::copysign(float_from_bits(dtype, 1), to);
    } else {
      z.f[k] = float_from_bits(dtype, float_bits(dtype, from) + ((from < to) == (from > 0) ? 1 : -1));
    }
  }
  return {std::move(z)};
}

// Ordered by magnitude, the floats of one sign have ascending bits.
loops::Expr element(loops::ElementArgs& args) {
  const Scalar x(args.b, args.operand(0)), y(args.b, args.operand(1));
  const Scalar bits = loops::bits_of(x, args.dtype()), sign = bits.bits(uint64_t{1} << (info(args.dtype()).bits - 1));
  const Scalar grows = equal(x < y, x > 0);
  const Scalar moved = where(grows, bits + 1, bits - 1);
  const Scalar of_zero = (loops::bits_of(y, args.dtype()) & sign) | 1;
  const Scalar next(args.b, loops::value_of_bits(where(equal(x, 0), of_zero, moved), args.dtype()));
  return where(is_nan(x) | is_nan(y), NAN, where(equal(x, y), y, next));
}

std::vector<Sample> samples() { return binary_samples("chlo.next_after", kFloats); }

constexpr OpDef of_wide_floats(OpDef def) {
  def = chlo_binary<kFloats>(def);
  def.infer = infer;
  return def;
}

}  // namespace

extern const OpDef kNextAfter = of_wide_floats({
    .name = "chlo.next_after",
    .doc = "The number of x's type that follows x in the direction of y; y where they are equal.",
    .evaluate = evaluate,
    .zero_gradient = true,
    .samples = samples,
    .element = element,
});

}  // namespace ingot::next_after_op
