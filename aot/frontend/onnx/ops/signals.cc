// Spectra and the windows that signals are cut out with.
#include <fmt/format.h>

#include <cmath>

#include "aot/frontend/onnx/node_args.h"

namespace ingot::onnx {
namespace {

constexpr int64_t kSignalSizeMax = 1 << 22;

// --- windows: a + b cos(2 pi k / N) + c cos(4 pi k / N) --------------------------------------------------------------

Items window(NodeArgs& n, double a, double b, double c) {
  const int64_t size = n.known_integer(0);
  if (size < 0 || size > kSignalSizeMax) n.fail(fmt::format("a size of {}", size));
  const auto length = static_cast<double>(n.flag("periodic", true) ? size : size - 1);
  std::vector<double> values;
  for (int64_t k = 0; k < size; ++k) {
    const double turn = 2 * M_PI * static_cast<double>(k) / length;
    values.push_back(a + b * std::cos(turn) + c * std::cos(2 * turn));
  }
  return floats(n.b, {n.dtype("output_datatype", DType::kF32), {size}}, values);
}

// --- Fourier transforms ----------------------------------------------------------------------------------------------

// The last dimension holds real parts alone, or real and imaginary ones.
Term complex_of(NodeArgs& n, Term x) {
  const int last = rank_of(x) - 1;
  if (last < 1 || x.shape()[last] < 1 || x.shape()[last] > 2)
    n.fail("its input's last dimension must be 1, of real numbers, or 2");
  const Term re = at_index(x, last, 0), im = x.shape()[last] == 2 ? at_index(x, last, 1) : re.like(0);
  return re.binary(kComplexOf, im);
}

Term parts_of(Term x) {
  return concat({unsqueeze(x.unary(kReal), rank_of(x)), unsqueeze(x.unary(kImag), rank_of(x))}, rank_of(x));
}

// So many elements along the axis: the first ones, or all and zeros.
Term with_length(Term x, int64_t axis, int64_t length) {
  const int64_t size = x.shape()[axis];
  return size < length ? pad_axis(x, 0, axis, 0, length - size) : slice(x, axis, 0, length);
}

Term transformed(Term x, int64_t axis, const char* kind, int64_t length) {
  const int64_t last = rank_of(x) - 1;
  const Term moved = swap_axes(x, axis, last);
  GraphBuilder& b = x.builder();
  const Term y(b, b.make(kFft, {moved},
                         {{"fft_type", EnumAttr{"fft_type", kind}}, {"fft_length", std::vector<int64_t>{length}}}));
  return swap_axes(y, axis, last);
}

// What half of a spectrum stands for: the rest mirrors it, conjugate.
Term whole_spectrum(Term x, int64_t axis, int64_t length) {
  const Term half = with_length(x, axis, length / 2 + 1);
  const int64_t mirrored = length - (length / 2 + 1);
  if (mirrored <= 0) return slice(half, axis, 0, length);
  return concat({half, reverse(slice(half, axis, 1, 1 + mirrored), axis).unary(kConj)}, axis);
}

Term in_computed_type(Term x) { return dtype_of(x) == DType::kF64 ? x : converted(x, DType::kF32); }

}  // namespace

Items lower_hann_window(NodeArgs& n) { return window(n, 0.5, -0.5, 0); }
Items lower_hamming_window(NodeArgs& n) { return window(n, 25.0 / 46, -21.0 / 46, 0); }
Items lower_blackman_window(NodeArgs& n) { return window(n, 0.42, -0.5, 0.08); }

// The axis is an attribute up to opset 19, then an input.
Items lower_dft(NodeArgs& n) {
  const Term x = n.in(0);
  const int rank = rank_of(x);
  const int64_t given = n.has(2) ? n.known_integer(2) : n.integer("axis", n.opset < 20 ? 1 : -2);
  const int64_t axis = n.axis(given, rank);
  if (axis == rank - 1) n.fail("the last axis holds the parts of complex numbers");
  const bool inverse = n.flag("inverse"), onesided = n.flag("onesided");
  const int64_t natural = inverse && onesided ? 2 * (x.shape()[axis] - 1) : x.shape()[axis];
  const int64_t length = n.has(1) ? n.known_integer(1) : natural;
  if (length < 1 || length > kSignalSizeMax) n.fail(fmt::format("a length of {}", length));
  const Term signal = complex_of(n, in_computed_type(x));
  if (!inverse) {
    const Term spectrum = transformed(with_length(signal, axis, length), axis, "FFT", length);
    return converted(parts_of(onesided ? slice(spectrum, axis, 0, length / 2 + 1) : spectrum), dtype_of(x));
  }
  const Term whole = onesided ? whole_spectrum(signal, axis, length) : with_length(signal, axis, length);
  const Term y = transformed(whole, axis, "IFFT", length);
  return converted(onesided ? unsqueeze(y.unary(kReal), rank - 1) : parts_of(y), dtype_of(x));
}

// Spectra of frames [batch, frames, frequencies, 2], each cut out by the window, `frame_step` after the one before. A
// signal of two dimensions is real: the specification asks for three, but exporters and ONNX Runtime do not.
Items lower_stft(NodeArgs& n) {
  Term x = n.in(0);
  if (rank_of(x) == 2) x = unsqueeze(x, 2);
  if (rank_of(x) != 3) n.fail("its signal must be [batch, length], or [batch, length, 1 or 2]");
  const int64_t step = n.known_integer(1), size = x.shape()[1];
  const int64_t natural = n.has(2) ? element_count(n.in(2).shape()) : size;
  const int64_t length = n.has(3) ? n.known_integer(3) : natural;
  if (step < 1 || length < 1 || length > size)
    n.fail(fmt::format("frames of {} elements, {} apart, of {}", length, step, size));
  const int64_t frames = 1 + (size - length) / step;
  if (frames > kSignalSizeMax / length) n.limit(fmt::format("{} frames of {} elements", frames, length));
  std::vector<int64_t> places;
  for (int64_t f = 0; f < frames; ++f) {
    for (int64_t k = 0; k < length; ++k) places.push_back(f * step + k);
  }
  Term cut = take(in_computed_type(x), onnx::integers(n.b, {DType::kI32, {frames, length}}, places), 1);
  if (n.has(2)) {
    const Term weights = with_length(converted(n.in(2), dtype_of(cut)), 0, length);
    cut = cut * broadcast(along(weights, 2, 4), cut.shape());
  }
  const Term spectrum = transformed(complex_of(n, cut), 2, "FFT", length);
  const int64_t kept = n.flag("onesided", true) ? length / 2 + 1 : length;
  return converted(parts_of(slice(spectrum, 2, 0, kept)), dtype_of(x));
}

// Triangles over the frequencies of a spectrum, evenly spaced in mel: [spectrum bins, mel bins].
Items lower_mel_weight_matrix(NodeArgs& n) {
  const int64_t bins = n.known_integer(0), length = n.known_integer(1), rate = n.known_integer(2);
  const double low = n.known_number(3), high = n.known_number(4);
  const int64_t rows = length / 2 + 1;
  if (bins < 0 || length < 1 || rate < 1 || bins > kSignalSizeMax / rows) n.fail("its sizes do not make a matrix");
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double step = (mel(high) - mel(low)) / static_cast<double>(bins + 2);
  std::vector<int64_t> edges;
  for (int64_t k = 0; k < bins + 2; ++k) {
    const double hertz = 700 * (std::pow(10, (static_cast<double>(k) * step + mel(low)) / 2595) - 1);
    const double edge = std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
    if (!(edge >= 0 && edge < static_cast<double>(rows))) n.fail("its frequencies are not those of the spectrum");
    edges.push_back(static_cast<int64_t>(edge));
  }
  std::vector<double> values(rows * bins);
  for (int64_t i = 0; i < bins; ++i) {
    const int64_t left = edges[i], centre = edges[i + 1], right = edges[i + 2];
    if (left == centre) values[centre * bins + i] = 1;
    for (int64_t j = left; j <= centre && centre > left; ++j)
      values[j * bins + i] = static_cast<double>(j - left) / static_cast<double>(centre - left);
    for (int64_t j = centre; j < right; ++j)
      values[j * bins + i] = static_cast<double>(right - j) / static_cast<double>(right - centre);
  }
  return floats(n.b, {n.dtype("output_datatype", DType::kF32), {rows, bins}}, values);
}

}  // namespace ingot::onnx
