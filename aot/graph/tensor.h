// Tensors of the reference evaluator: f64 for every float type, exact integers for the others.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "aot/graph/literal.h"

namespace ingot {

// Row-major values. Which vector is used follows from the dtype: `f` for floats and, a pair for each
// element, complex numbers; `i` for integers and i1 (ui64 as bits).
struct RefTensor {
  TensorType type;
  std::vector<double> f;
  std::vector<int64_t> i;

  RefTensor() = default;
  explicit RefTensor(TensorType t);  // zeros

  bool is_float() const { return ingot::is_float(type.dtype); }
  bool is_complex() const { return ingot::is_complex(type.dtype); }
  std::complex<double> complex_at(int64_t k) const { return {f[2 * k], f[2 * k + 1]}; }
  void set_complex(int64_t k, std::complex<double> z) {
    f[2 * k] = z.real();
    f[2 * k + 1] = z.imag();
  }
  int64_t elements() const { return type.elements(); }
  void copy_element(int64_t to, const RefTensor& from, int64_t from_index);  // of the same class of dtypes
};

RefTensor from_literal(const Literal& literal);
LiteralRef to_literal(const RefTensor& tensor);  // rounded to the dtype

// Rounds float values to the dtype, or to what a quantized type's integers stand for; wraps integers to their width.
void round_in_place(RefTensor& tensor);

// Steps through every index of `shape` in row-major order: for (Shape at(rank, 0); ...; next_index(at, shape)).
// Returns false, with `at` back at zero, after the last one.
bool next_index(Shape& at, const Shape& shape);
int64_t linear_index(const Shape& at, const Shape& strides);

}  // namespace ingot
