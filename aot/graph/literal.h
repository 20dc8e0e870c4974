// Constant tensor data: what a `dense<...>` attribute holds.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

#include "aot/graph/type.h"

namespace ingot {

// A type and its bytes: row-major, little endian, `info(dtype).bytes` per element. A splat keeps one element only.
// Immutable once shared. Sub-byte integers are stored sign- or zero-extended to a byte; i1 is 0 or 1.
struct Literal {
  TensorType type;
  std::vector<std::byte> data;
  bool is_splat = false;  // Invariant: data holds exactly one element, else type.elements() of them.

  // Element `index` of the row-major tensor, widened. Floats and complex numbers: the value. Integers and i1: the
  // value; ui64 as bits.
  double float_at(int64_t index) const;
  int64_t int_at(int64_t index) const;
  std::complex<double> complex_at(int64_t index) const;

  std::vector<std::byte> dense_bytes() const;  // type.bytes() bytes, a splat spread out
};
using LiteralRef = std::shared_ptr<const Literal>;

bool operator==(const Literal& a, const Literal& b);

LiteralRef splat(TensorType type, double value);       // floats and real parts: rounded to the type. Integers: wraps
LiteralRef splat_int(TensorType type, int64_t value);  // any dtype
LiteralRef dense(TensorType type, std::vector<std::byte> data);
LiteralRef dense_ints(const std::vector<int64_t>& values, DType dtype = DType::kI64);  // rank 1

// One element to and from its bytes. Rounding to a float type is to nearest, ties to even, with gradual underflow.
double load_float(DType dtype, const std::byte* from);
int64_t load_int(DType dtype, const std::byte* from);
std::complex<double> load_complex(DType dtype, const std::byte* from);
void store_float(DType dtype, double value, std::byte* to);
void store_complex(DType dtype, std::complex<double> value, std::byte* to);
void store_int(DType dtype, int64_t value, std::byte* to);  // wraps to the dtype's width

// `value` rounded to the nearest value of a float dtype (ties to even), or wrapped to an integer dtype's width.
double round_to(DType dtype, double value);
int64_t wrap_to(DType dtype, int64_t value);

}  // namespace ingot
