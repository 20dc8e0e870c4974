// stablehlo.fft: discrete Fourier transforms along the last one to three dimensions.
#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "aot/ops/support/build.h"
#include "aot/ops/support/fourier.h"
#include "aot/ops/support/index.h"
#include "aot/ops/support/infer.h"
#include "aot/ops/support/samples.h"

namespace ingot::fft_op {
namespace {

constexpr int64_t kLongest = int64_t{1} << 22;

enum class Kind : uint8_t { kForward, kInverse, kFromReal, kToReal };

struct Fft {
  Kind kind;
  std::vector<int64_t> lengths;

  // Of the operand or the result among `rank` dimensions.
  int64_t axis(int rank, size_t k) const { return rank - static_cast<int64_t>(lengths.size() - k); }
  int sign() const { return kind == Kind::kForward || kind == Kind::kFromReal ? -1 : 1; }
};

Fft read_fft(const Attrs& attrs) {
  const std::string& name = attrs.string("fft_type");
  const Kind kind = name == "FFT"    ? Kind::kForward
                    : name == "IFFT" ? Kind::kInverse
                    : name == "RFFT" ? Kind::kFromReal
                                     : Kind::kToReal;
  return {kind, attrs.ints("fft_length")};
}

// How many elements of a spectrum of `length` a real signal has: the others are their conjugates.
int64_t half_length(int64_t length) { return length == 0 ? 0 : length / 2 + 1; }

std::vector<TensorType> infer(const InferArgs& args) {
  ops::check_operand_count(args, 1);
  const TensorType& x = args.operands[0];
  const std::string& name = args.attrs().string("fft_type");
  if (name != "FFT" && name != "IFFT" && name != "RFFT" && name != "IRFFT") {
    args.fail("unknown fft_type " + name + "; there are FFT IFFT RFFT IRFFT");
  }
  const Fft fft = read_fft(args.attrs());
  if (fft.lengths.empty() || fft.lengths.size() > 3 || fft.lengths.size() > x.shape.size()) {
    args.fail(fmt::format("fft_length = {} must name one to three last dimensions of {}", ops::to_string(fft.lengths),
                          to_string(x)));
  }
  const bool from_real = fft.kind == Kind::kFromReal;
  const bool fits = from_real ? x.dtype == DType::kF32 || x.dtype == DType::kF64 : is_complex(x.dtype);
  if (!fits) args.fail(fmt::format("{} takes {}, not {}", name, from_real ? "f32 or f64" : "complex", to_string(x)));
  for (size_t k = 0; k < fft.lengths.size(); ++k) {
    const int64_t length = fft.lengths[k], axis = fft.axis(x.rank(), k);
    const bool is_half = fft.kind == Kind::kToReal && k + 1 == fft.lengths.size();
    if (x.shape[axis] == (is_half ? half_length(length) : length)) continue;
    args.fail(fmt::format("fft_length = {}: dimension {} of {} must be {}", ops::to_string(fft.lengths), axis,
                          to_string(x), is_half ? half_length(length) : length));
  }
  TensorType result = x;
  if (from_real) {
    result.dtype = complex_of(x.dtype);
    result.shape.back() = half_length(fft.lengths.back());
  } else if (fft.kind == Kind::kToReal) {
    result.dtype = part_of(x.dtype);
    result.shape.back() = fft.lengths.back();
  }
  return {result};
}

using Complex = std::complex<long double>;

// A row of `length` elements: y[k] = sum over n of x[n] e^(sign 2 pi i k n / length), scaled where it is inverse. A row
// of a real signal's spectrum lacks its second half.
std::vector<Complex> transform(std::vector<Complex> x, int64_t length, int sign) {
  for (auto n = static_cast<int64_t>(x.size()); n < length; ++n) x.push_back(std::conj(x[length - n]));
  std::vector<Complex> roots(length), y(length);
  for (int64_t k = 0; k < length; ++k) {
    const long double angle =
        2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(length);
    roots[k] = {std::cos(angle), sign * std::sin(angle)};
  }
  for (int64_t k = 0; k < length; ++k) {
    for (int64_t n = 0; n < length; ++n) y[k] += x[n] * roots[k * n % length];
    if (sign > 0) y[k] /= static_cast<long double>(length);
  }
  return y;
}

// Every row along `axis`, to `size` elements.
std::vector<Complex> transform_rows(const std::vector<Complex>& x, const Shape& from, int64_t axis, int64_t length,
                                    int64_t size, int sign) {
  Shape to = from;
  to[axis] = size;
  std::vector<Complex> y(static_cast<size_t>(element_count(to)));
  const std::vector<int64_t> others = ops::other_dims(static_cast<int>(from.size()), {axis});
  const std::vector<int64_t> from_rows = ops::offsets(from, others), to_rows = ops::offsets(to, others);
  const int64_t from_stride = row_major_strides(from)[axis], to_stride = row_major_strides(to)[axis];
  for (size_t row = 0; row < from_rows.size(); ++row) {
    std::vector<Complex> elements;
    for (int64_t n = 0; n < from[axis]; ++n) elements.push_back(x[from_rows[row] + n * from_stride]);
    const std::vector<Complex> transformed = transform(std::move(elements), length, sign);
    for (int64_t k = 0; k < size; ++k) y[to_rows[row] + k * to_stride] = transformed[k];
  }
  return y;
}

// The dimensions one by one; the last one first for a real signal, and last to a real signal.
std::vector<RefTensor> evaluate(const EvaluateArgs& args) {
  const Fft fft = read_fft(args.attrs());
  const RefTensor& x = args.inputs[0];
  RefTensor y(args.result_type());
  if (y.elements() == 0) return {y};
  std::vector<Complex> values;
  for (int64_t k = 0; k < x.elements(); ++k) values.push_back(x.is_complex() ? Complex(x.complex_at(k)) : x.f[k]);
  Shape shape = x.type.shape;
  for (size_t step = 0; step < fft.lengths.size(); ++step) {
    const size_t k = fft.kind == Kind::kToReal ? step : fft.lengths.size() - 1 - step;
    const int64_t axis = fft.axis(x.type.rank(), k), size = y.type.shape[axis];
    values = transform_rows(values, shape, axis, fft.lengths[k], size, fft.sign());
    shape[axis] = size;
  }
  for (int64_t k = 0; k < y.elements(); ++k) {
    if (y.is_complex()) {
      y.set_complex(k, std::complex<double>(values[k]));
    } else {
      y.f[k] = static_cast<double>(values[k].real());
    }
  }
  return {y};
}

Value* first_elements(GraphBuilder& b, Value* x, int64_t axis, int64_t start, int64_t limit) {
  Shape from(x->type.shape.size(), 0), to = x->type.shape;
  from[axis] = start;
  to[axis] = limit;
  return ops::slice(b, x, from, to, Shape(to.size(), 1));
}

// The whole spectrum of a real signal from its first half.
Parts whole_spectrum(GraphBuilder& b, const Parts& half, int64_t axis, int64_t length) {
  const auto mirrored = [&](Value* part) {
    return ops::reverse(b, first_elements(b, part, axis, 1, (length + 1) / 2), {axis});
  };
  if (length <= 2) return half;
  Value* re = ops::concatenate(b, {half.re, mirrored(half.re)}, axis);
  Value* conjugates = ops::negate(b, mirrored(half.im));
  return {re, ops::concatenate(b, {half.im, conjugates}, axis)};
}

Values expand(ExpandArgs& args) {
  GraphBuilder& b = args.b;
  const Fft fft = read_fft(args.attrs());
  const TensorType& result = args.op.result()->type;
  if (result.elements() == 0) return {ops::constant(b, result, 0)};
  Value* x = args.operand(0);
  const int rank = x->type.rank();
  Parts parts{x};
  if (is_complex(x->type.dtype)) {
    parts.re = ops::unary(b, kReal, x);
    parts.im = ops::unary(b, kImag, x);
  }
  double scale = 1;
  for (size_t step = 0; step < fft.lengths.size(); ++step) {
    const size_t k = fft.kind == Kind::kToReal ? step : fft.lengths.size() - 1 - step;
    const int64_t axis = fft.axis(rank, k), length = fft.lengths[k];
    if (length > kLongest) {
      throw_limit(args.op.location,
                  fmt::format("stablehlo.fft of length {}: at most {} is supported, as twiddle factors "
                              "are constants",
                              length, kLongest));
    }
    const bool is_last = k + 1 == fft.lengths.size();
    if (is_last && fft.kind == Kind::kToReal) parts = whole_spectrum(b, parts, axis, length);
    parts = ops::fourier(b, parts, axis, fft.sign());
    if (is_last && fft.kind == Kind::kFromReal) {
      parts.re = first_elements(b, parts.re, axis, 0, half_length(length));
      parts.im = first_elements(b, parts.im, axis, 0, half_length(length));
    }
    scale /= static_cast<double>(length);
  }
  if (fft.sign() > 0) {
    parts.re = ops::multiply(b, parts.re, ops::constant_like(b, parts.re, scale));
    parts.im = ops::multiply(b, parts.im, ops::constant_like(b, parts.im, scale));
  }
  if (!is_complex(result.dtype)) return {parts.re};
  return {ops::binary(b, kComplexOf, parts.re, parts.im)};
}

std::vector<Sample> samples() {
  const auto fft = [](const std::string& kind, const std::string& lengths, const std::string& x, const std::string& y) {
    return Sample{.text = ops::single_op("%x: tensor<" + x + ">",
                                         "stablehlo.fft %x, type = " + kind + ", length = [" + lengths +
                                             "] : (tensor<" + x + ">) -> tensor<" + y + ">",
                                         "tensor<" + y + ">"),
                  .differentiable = false};
  };
  std::vector<Sample> samples = {
      fft("FFT", "5", "3x5xcomplex<f32>", "3x5xcomplex<f32>"),
      fft("FFT", "64", "64xcomplex<f32>", "64xcomplex<f32>"),
      fft("FFT", "60", "2x60xcomplex<f64>", "2x60xcomplex<f64>"),
      fft("FFT", "67", "67xcomplex<f64>", "67xcomplex<f64>"),
      fft("FFT", "4, 6", "2x4x6xcomplex<f32>", "2x4x6xcomplex<f32>"),
      fft("FFT", "3, 4, 5", "3x4x5xcomplex<f64>", "3x4x5xcomplex<f64>"),
      fft("IFFT", "40", "2x3x40xcomplex<f32>", "2x3x40xcomplex<f32>"),
      fft("IFFT", "6, 35", "6x35xcomplex<f64>", "6x35xcomplex<f64>"),
      fft("RFFT", "16", "2x16xf32", "2x9xcomplex<f32>"),
      fft("RFFT", "9, 33", "9x33xf64", "9x17xcomplex<f64>"),
      fft("IRFFT", "16", "2x9xcomplex<f32>", "2x16xf32"),
      fft("IRFFT", "5, 33", "5x17xcomplex<f64>", "5x33xf64"),
      fft("IRFFT", "1", "4x1xcomplex<f32>", "4x1xf32"),
      fft("RFFT", "2", "4x2xf32", "4x2xcomplex<f32>"),
      fft("IFFT", "7", "0x7xcomplex<f32>", "0x7xcomplex<f32>"),
  };
  return samples;
}

}  // namespace

extern const OpDef kFft = {
    .name = "stablehlo.fft",
    .doc = "The discrete Fourier transform along the last dimensions, its inverse, and those of real signals.",
    .assembly =
        "operands `,` `type` `=` enum(fft_type, fft_type) `,` `length` `=` ints(fft_length) attr-dict :functional",
    .infer = infer,
    .evaluate = evaluate,
    .expand = expand,
    .samples = samples,
    .root = KernelRoot::kNone,
    .ulp = {.f32 = 16, .f64 = 16},  // most where a length has a large prime factor
};

}  // namespace ingot::fft_op
