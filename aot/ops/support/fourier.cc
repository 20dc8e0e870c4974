#include "aot/ops/support/fourier.h"

#include <cmath>
#include <complex>
#include <numbers>

#include "aot/ops/support/build.h"

namespace ingot::ops {
namespace {

using Complex = std::complex<double>;

constexpr int64_t kLargestRadix = 32;       // of a factor that is not prime: a product is faster than two and twiddles
constexpr int64_t kLargestPrimeRadix = 64;  // beyond, Bluestein's algorithm
constexpr int64_t kSideBySide = 16;         // columns of a product that fill the vectors of every target

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

// Complex tensors as one real tensor whose first dimension has the parts: real and imaginary, or real alone where the
// imaginary part is 0. Here they are x[P, B, N, I]: transformed along N, one of B after the other, I side by side.
Value* part(GraphBuilder& b, Value* x, int64_t index) {
  Shape start(x->type.shape.size(), 0), limit = x->type.shape;
  start[0] = index;
  limit[0] = index + 1;
  return slice(b, x, start, limit, Shape(limit.size(), 1));
}

struct Tables {
  std::vector<double> re, im;

  void add(Complex value) {
    re.push_back(value.real());
    im.push_back(value.imag());
  }
};

Value* table(GraphBuilder& b, DType dtype, const Shape& shape, const std::vector<double>& values) {
  RefTensor tensor({dtype, shape});
  tensor.f = values;
  return constant(b, to_literal(tensor));
}

// x times the factors of these extents, which lie along dimensions `dims` of x.
Value* scaled(GraphBuilder& b, Value* x, const Tables& factors, const Shape& extents,
              const std::vector<int64_t>& dims) {
  Shape shape = x->type.shape;
  const bool is_complex = shape[0] == 2;
  shape[0] = 1;
  const auto spread = [&](const std::vector<double>& values) {
    return broadcast_in_dim(b, table(b, x->type.dtype, extents, values), shape, dims);
  };
  Value* re = spread(factors.re);
  Value* im = spread(factors.im);
  if (!is_complex) {
    Value* real = multiply(b, x, re);
    return concatenate(b, {real, multiply(b, x, im)}, 0);
  }
  Value* x_re = part(b, x, 0);
  Value* x_im = part(b, x, 1);
  Value* re_re = multiply(b, x_re, re);
  Value* im_im = multiply(b, x_im, im);
  Value* re_im = multiply(b, x_re, im);
  Value* im_re = multiply(b, x_im, re);
  Value* real = subtract(b, re_re, im_im);
  return concatenate(b, {real, add(b, re_im, im_re)}, 0);
}

// x[P, B, N, M] to y[2, K, B, M]: the matrix of N x N roots of unity times x.
Value* by_matrix(GraphBuilder& b, Value* x, int sign) {
  const int64_t parts = x->type.shape[0], n = x->type.shape[2];
  std::vector<double> matrix;  // [2, K, P, N]
  for (int64_t to = 0; to < 2; ++to) {
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t from = 0; from < parts; ++from) {
        for (int64_t j = 0; j < n; ++j) {
          const Complex root = root_of_unity(sign * j * k, n);
          const double entries[2][2] = {{root.real(), -root.imag()}, {root.imag(), root.real()}};
          matrix.push_back(entries[to][from]);
        }
      }
    }
  }
  Value* weights = table(b, x->type.dtype, {2, n, parts, n}, matrix);
  return dot_general(b, weights, x, {.lhs_batch = {}, .rhs_batch = {}, .lhs_contract = {2, 3}, .rhs_contract = {0, 2}});
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

Value* transform(GraphBuilder& b, Value* x, int sign);

// Bluestein, "A linear filtering approach to the computation of discrete Fourier transform", 1970. With the chirp
// w[n] = e^(sign pi i n² / N), y[k] = w[k] * sum over n of (x[n] w[n]) conj(w[k - n]): a cyclic convolution of a power
// of two.
Value* by_convolution(GraphBuilder& b, Value* x, int sign) {
  const Shape shape = x->type.shape;
  const int64_t n = shape[2];
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

  Value* zero = constant(b, {x->type.dtype, {}}, 0);
  const Shape none(4, 0);
  Value* padded = pad(b, scaled(b, x, chirp, {n}, {2}), zero, none, {0, 0, size - n, 0}, none);
  Value* convolved = transform(b, scaled(b, transform(b, padded, -1), factors, {size}, {2}), 1);
  return scaled(b, slice(b, convolved, none, {2, shape[1], n, shape[3]}, Shape(4, 1)), chirp, {n}, {2});
}

// Side by side what would be one after the other.
Value* transform_across(GraphBuilder& b, Value* x, int sign) {
  const Shape shape = x->type.shape;
  const int64_t batch = shape[1], n = shape[2], inner = shape[3];
  Value* across = reshape(b, transpose(b, x, {0, 2, 1, 3}), {shape[0], 1, n, batch * inner});
  return transpose(b, reshape(b, transform(b, across, sign), {2, n, batch, inner}), {0, 2, 1, 3});
}

// x[P, B, N, I] to y[2, B, N, I]. Cooley and Tukey, 1965: N = r m, n = m n1 + n2, k = k1 + r k2;
//   y[k1 + r k2] = sum over n2 of e^(2 pi i n2 k2 / m) (e^(2 pi i n2 k1 / N) sum over n1 of e^(2 pi i n1 k1 / r) x[n])
Value* transform(GraphBuilder& b, Value* x, int sign) {
  const Shape shape = x->type.shape;
  const int64_t parts = shape[0], batch = shape[1], n = shape[2], inner = shape[3];
  if (n == 1) return parts == 2 ? x : concatenate(b, {x, zeros_like(b, x)}, 0);
  const int64_t r = n <= kLargestRadix ? n : radix_of(n), m = n / r;
  if (r == 1) return by_convolution(b, x, sign);
  if (batch > 1 && m * inner < kSideBySide) return transform_across(b, x, sign);
  Value* columns = by_matrix(b, reshape(b, x, {parts, batch, r, m * inner}), sign);  // [2, k1, B, (n2, i)]
  if (m == 1) return transpose(b, columns, {0, 2, 1, 3});
  Tables twiddles;
  for (int64_t k1 = 0; k1 < r; ++k1) {
    for (int64_t n2 = 0; n2 < m; ++n2) twiddles.add(root_of_unity(sign * n2 * k1, n));
  }
  Value* turned = scaled(b, reshape(b, columns, {2, r, batch, m, inner}), twiddles, {r, m}, {1, 3});
  Value* rows = transform(b, reshape(b, turned, {2, r * batch, m, inner}), sign);  // [2, (k1, B), k2, I]
  Value* ordered = transpose(b, reshape(b, rows, {2, r, batch, m, inner}), {0, 2, 3, 1, 4});
  return reshape(b, ordered, {2, batch, n, inner});
}

}  // namespace

Parts fourier(GraphBuilder& b, Parts parts, int64_t axis, int sign) {
  const Shape shape = parts.re->type.shape;
  Shape flat{1, 1, shape[axis], 1};
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d) {
    if (d != axis) flat[d < axis ? 1 : 3] *= shape[d];
  }
  Value* re = reshape(b, parts.re, flat);
  Value* x = parts.im ? concatenate(b, {re, reshape(b, parts.im, flat)}, 0) : re;
  Value* y = transform(b, x, sign);
  re = reshape(b, part(b, y, 0), shape);
  return {re, reshape(b, part(b, y, 1), shape)};
}

}  // namespace ingot::ops
