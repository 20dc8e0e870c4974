#include <bit>

#include "aot/loops/math/functions.h"

namespace ingot::loops::math {

Scalar polynomial(const Scalar& x, std::span<const double> coefficients) {
  Scalar sum = x.like(coefficients.back());
  for (size_t k = coefficients.size() - 1; k-- > 0;) sum = fma(sum, x, coefficients[k]);
  return sum;
}

Scalar with_sign_of(const Scalar& x, const Scalar& y) {
  const DType bits = signed_of(x.dtype());
  const Scalar y_bits = y.bitcast(bits);
  return (x.bitcast(bits) | (y_bits & y_bits.bits(uint64_t{1} << (info(x.dtype()).bits - 1)))).bitcast(x.dtype());
}

Scalar power_of_two(const Scalar& n, DType dtype) {
  const Layout& layout = layout_of(dtype);
  return ((n + layout.bias) << layout.mantissa_bits).bitcast(dtype);
}

const Layout& layout_of(DType dtype) {
  static constexpr Layout kF32{23, 127, 0x1.8p23};
  static constexpr Layout kF64{52, 1023, 0x1.8p52};
  return dtype == DType::kF64 ? kF64 : kF32;
}

Scalar to_float(const Scalar& n, DType dtype) {
  const double shift = layout_of(dtype).shift;
  const Scalar shifted(n.builder(), n.builder().constant(dtype, shift));
  return (n + shifted.bitcast(n.dtype())).bitcast(dtype) - shift;
}

}  // namespace ingot::loops::math
