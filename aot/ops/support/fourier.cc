#include "aot/ops/support/fourier.h"

#include <cmath>
#include <complex>
#include <numbers>

#include "aot/ops/support/build.h"

namespace ingot::ops {
namespace {

using Complex = std::complex<double>;

constexpr int64_t kLargestRadix = 32;       // of a factor that is not prime
constexpr int64_t kLargestPrimeRadix = 64;  // beyond, Bluestein's algorithm

// e^(2 pi i k / n); the angle is reduced exactly, to at most an eighth of a turn.
Complex root_of_unity(int64_t k, int64_t n) {
  k = ((k % n) + n) % n;
  const int64_t eighth = (8 * k + n / 2) / n;  // nearest multiple of an eighth turn
  if (eighth % 2 == 0) {
    const double rest = 2 * std::numbers::pi * static_cast<double>(4 * k - eighth / 2 * n) / static_cast<double>(4 * n);
    static constexpr Complex kQuarters[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    return kQuarters[eighth / 2 % 4] * Complex(std::cos(rest), std::sin(rest));
  }
  const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

Value* table(GraphBuilder& b, DType dtype, const Shape& shape, const std::vector<double>& values) {
  RefTensor tensor({dtype, shape});
  tensor.f = values;
  return constant(b, to_literal(tensor));
}

struct Tables {
  std::vector<double> re, im;

  void add(Complex value) {
    re.push_back(value.real());
    im.push_back(value.imag());
  }
};

// parts[b, n, i] * factors[n, i'], where i' is the last `columns` indices of i.
Parts scaled(GraphBuilder& b, const Parts& x, const Tables& factors, int64_t rows, int64_t columns) {
  const Shape& shape = x.re->type.shape;  // [B, rows, I, columns]
  const auto spread = [&](const std::vector<double>& values) {
    return broadcast_in_dim(b, table(b, x.re->type.dtype, {rows, columns}, values), shape, {1, 3});
  };
  Value* re = spread(factors.re);
  Value* im = spread(factors.im);
  if (!x.im) {
    Value* real = multiply(b, x.re, re);
    return {real, multiply(b, x.re, im)};
  }
  Value* re_re = multiply(b, x.re, re);
  Value* im_im = multiply(b, x.im, im);
  Value* re_im = multiply(b, x.re, im);
  Value* im_re = multiply(b, x.im, re);
  Value* real = subtract(b, re_re, im_im);
  return {real, add(b, re_im, im_re)};
}

Parts reshaped(GraphBuilder& b, const Parts& x, const Shape& shape) {
  Value* re = reshape(b, x.re, shape);
  return {re, x.im ? reshape(b, x.im, shape) : nullptr};
}

// x[B, N, M] to y[B, M, K]: each row of N times the matrix of N x N roots of unity.
Parts by_matrix(GraphBuilder& b, const Parts& x, int sign) {
  const Shape shape = x.re->type.shape;
  const int64_t n = shape[1], inputs = x.im ? 2 : 1;
  std::vector<double> matrix(static_cast<size_t>(inputs * n * 2 * n));
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t k = 0; k < n; ++k) {
      const Complex root = root_of_unity(sign * j * k, n);
      const double entries[2][2] = {{root.real(), root.imag()}, {-root.imag(), root.real()}};
      for (int64_t from = 0; from < inputs; ++from) {
        for (int64_t to = 0; to < 2; ++to) matrix[((from * n + j) * 2 + to) * n + k] = entries[from][to];
      }
    }
  }
  Value* weights = table(b, x.re->type.dtype, {inputs * n, 2 * n}, matrix);
  Value* stacked = x.im ? concatenate(b, {x.re, x.im}, 1) : x.re;
  Value* both =
      dot_general(b, stacked, weights, {.lhs_batch = {}, .rhs_batch = {}, .lhs_contract = {1}, .rhs_contract = {0}});
  const auto half = [&](int64_t first) {
    return slice(b, both, {0, 0, first}, {shape[0], shape[2], first + n}, {1, 1, 1});
  };
  Value* re = half(0);
  return {re, half(n)};
}

// The first factor r of n = r m: near the square root, if that is small; 1 where n has no small factor.
int64_t radix_of(int64_t n) {
  int64_t best = 1;
  for (int64_t r = 2; r <= std::min(n, kLargestPrimeRadix); ++r) {
    if (n % r != 0 || (r > kLargestRadix && best > 1)) continue;
    best = r;
    if (r * r >= n) break;
  }
  return best;
}

// In place, for powers of two.
void transform(std::vector<Complex>& x, int sign) {
  const size_t n = x.size();
  if (n == 1) return;
  std::vector<Complex> even, odd;
  for (size_t k = 0; k < n; ++k) (k % 2 ? odd : even).push_back(x[k]);
  transform(even, sign);
  transform(odd, sign);
  for (size_t k = 0; k < n / 2; ++k) {
    const Complex turned = odd[k] * root_of_unity(sign * static_cast<int64_t>(k), static_cast<int64_t>(n));
    x[k] = even[k] + turned;
    x[k + n / 2] = even[k] - turned;
  }
}

Parts transform(GraphBuilder& b, const Parts& x, int sign);

// Bluestein, "A linear filtering approach to the computation of discrete Fourier transform", 1970. With the chirp
// w[n] = e^(sign pi i n² / N), y[k] = w[k] * sum over n of (x[n] w[n]) conj(w[k - n]): a cyclic convolution of a power
// of two.
Parts by_convolution(GraphBuilder& b, const Parts& x, int sign) {
  const Shape shape = x.re->type.shape;
  const int64_t n = shape[1], inner = shape[2];
  int64_t size = 1;
  while (size < 2 * n - 1) size *= 2;
  Tables chirp;
  std::vector<Complex> filter(static_cast<size_t>(size));
  for (int64_t k = 0; k < n; ++k) {
    const Complex w = root_of_unity(sign * (k * k % (2 * n)), 2 * n);
    chirp.add(w);
    filter[k] = filter[(size - k) % size] = std::conj(w) / static_cast<double>(size);
  }
  transform(filter, -1);
  Tables factors;
  for (const Complex& value : filter) factors.add(value);

  const Shape rows{shape[0], n, inner, 1}, longer{shape[0], size, inner, 1};
  const Parts turned = scaled(b, reshaped(b, x, rows), chirp, n, 1);
  Value* zero = constant(b, {x.re->type.dtype, {}}, 0);
  const auto padded = [&](Value* part) { return pad(b, part, zero, {0, 0, 0, 0}, {0, size - n, 0, 0}, {0, 0, 0, 0}); };
  Value* re = padded(turned.re);
  const Parts spectrum = transform(b, reshaped(b, {re, padded(turned.im)}, {shape[0], size, inner}), -1);
  const Parts filtered = scaled(b, reshaped(b, spectrum, longer), factors, size, 1);
  const Parts convolved = transform(b, reshaped(b, filtered, {shape[0], size, inner}), 1);
  const auto first = [&](Value* part) { return slice(b, part, {0, 0, 0}, {shape[0], n, inner}, {1, 1, 1}); };
  Value* kept = first(convolved.re);
  const Parts result = scaled(b, reshaped(b, {kept, first(convolved.im)}, rows), chirp, n, 1);
  return reshaped(b, result, shape);
}

// Along the middle of x[B, N, I]. Cooley and Tukey, 1965: N = r m, n = m n1 + n2, k = k1 + r k2;
//   y[k1 + r k2] = sum over n2 of e^(2 pi i n2 k2 / m) (e^(2 pi i n2 k1 / N) sum over n1 of e^(2 pi i n1 k1 / r) x[n])
Parts transform(GraphBuilder& b, const Parts& x, int sign) {
  const Shape shape = x.re->type.shape;
  const int64_t batch = shape[0], n = shape[1], inner = shape[2];
  if (n == 1) return {x.re, x.im ? x.im : zeros_like(b, x.re)};
  const int64_t r = n <= kLargestRadix / 2 ? n : radix_of(n), m = n / r;
  if (r == 1) return by_convolution(b, x, sign);
  const Parts columns = by_matrix(b, reshaped(b, x, {batch, r, m * inner}), sign);  // [B, (n2, i), k1]
  Parts ordered = reshaped(b, columns, {batch, m, inner, r});
  if (m > 1) {
    Tables twiddles;
    for (int64_t n2 = 0; n2 < m; ++n2) {
      for (int64_t k1 = 0; k1 < r; ++k1) twiddles.add(root_of_unity(sign * n2 * k1, n));
    }
    const Parts turned = scaled(b, ordered, twiddles, m, r);
    const Parts rows = transform(b, reshaped(b, turned, {batch, m, inner * r}), sign);  // [B, k2, (i, k1)]
    ordered = reshaped(b, rows, {batch, m, inner, r});
  }
  Value* re = transpose(b, ordered.re, {0, 1, 3, 2});
  return reshaped(b, {re, transpose(b, ordered.im, {0, 1, 3, 2})}, shape);
}

}  // namespace

Parts fourier(GraphBuilder& b, Parts parts, int64_t axis, int sign) {
  const Shape shape = parts.re->type.shape;
  Shape flat{1, shape[axis], 1};
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d) {
    if (d != axis) flat[d < axis ? 0 : 2] *= shape[d];
  }
  return reshaped(b, transform(b, reshaped(b, parts, flat), sign), shape);
}

}  // namespace ingot::ops
