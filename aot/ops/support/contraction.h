// What dot_general and convolution share: dtypes of products and sums, and the building of their loops::Contraction.
#pragma once

#include "aot/graph/literal.h"
#include "aot/graph/op.h"
#include "aot/loops/contraction.h"

namespace ingot::ops {

// The result's dtype: as declared (wider sums than the operands are allowed), else the operands'. Fails when the
// operands or the declared result do not go together.
DType product_dtype(const InferArgs& args);

// The dtype of the sums behind a result: f16 and bf16 in f32, narrow integers in 32 bits.
DType accumulate_dtype(DType result);

// How words are multiplied, as attributes::kUnsignedBytes and kPairs say.
int unsigned_bytes(const Op& op);
bool multiplies_pairs(const Op& op);
void check_unsigned_bytes(const InferArgs& args);

// The products that need not be made, as attributes::kTriangles says.
std::vector<loops::ContractionTriangle> triangles(const Op& op);
void check_triangles(const InferArgs& args, int dims);  // of the iteration space

// sum += a * b: floats in f64 or, with round_partial_sums, rounded to `dtype` at each step; integers wrapping, as numbers
// or as four bytes each; words as two bf16.
struct MultiplyAdd {
  DType dtype;
  bool round_partial_sums;
  int unsigned_bytes;

  explicit MultiplyAdd(const EvaluateArgs& args)
      : dtype(accumulate_dtype(args.result_type().dtype)),
        round_partial_sums(args.round_partial_sums),
        unsigned_bytes(ops::unsigned_bytes(args.op)) {}

  void operator()(double& sum, double a, double b) const {
    sum = round_partial_sums ? round_to(dtype, sum + round_to(dtype, a * b)) : sum + a * b;
  }
  void operator()(double& sum, int64_t a, int64_t b) const {
    for (const int shift : {16, 0}) (*this)(sum, bf16(a >> shift), bf16(b >> shift));
  }
  void operator()(std::complex<double>& sum, std::complex<double> a, std::complex<double> b) const { sum += a * b; }
  void operator()(int64_t& sum, int64_t a, int64_t b) const {
    if (unsigned_bytes >= 0) return unsigned_bytes == 0 ? add_bytes(sum, a, b) : add_bytes(sum, b, a);
    sum = static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }

 private:
  static double bf16(int64_t bits) {
    const auto low = static_cast<uint16_t>(bits);
    return load_float(DType::kBF16, reinterpret_cast<const std::byte*>(&low));
  }
  static void add_bytes(int64_t& sum, int64_t a, int64_t b) {
    for (int shift = 0; shift < 32; shift += 8)
      sum += static_cast<uint8_t>(a >> shift) * static_cast<int8_t>(b >> shift);
  }
};

// The elements of a complex tensor, and back.
std::vector<std::complex<double>> complex_values(const RefTensor& tensor);
void set_complex_values(RefTensor& tensor, const std::vector<std::complex<double>>& values);

// The result whose elements, zeros at first, `multiply(args, lhs, rhs, out)` makes of those of the first two operands,
// as doubles, complex numbers or integers.
template <typename Multiply>
std::vector<RefTensor> sums_of_products(const EvaluateArgs& args, Multiply multiply) {
  RefTensor result(args.result_type());
  const RefTensor &lhs = args.inputs[0], &rhs = args.inputs[1];
  if (multiplies_pairs(args.op)) {
    multiply(args, lhs.i, rhs.i, result.f);
  } else if (result.is_float()) {
    multiply(args, lhs.f, rhs.f, result.f);
  } else if (result.is_complex()) {
    std::vector<std::complex<double>> values(result.elements());
    multiply(args, complex_values(lhs), complex_values(rhs), values);
    set_complex_values(result, values);
  } else {
    multiply(args, lhs.i, rhs.i, result.i);
  }
  return {result};
}

// Appends an iteration dimension; gives its number.
int add_dim(loops::Contraction& c, loops::ContractionDim::Kind kind, int64_t extent);

// Coefficients that are 1 for the iteration dimension `dim`.
std::vector<int64_t> unit(int dim);

// Gives all accesses one coefficient for each iteration dimension and settles `always` against the shapes.
void finish(loops::Contraction& c, const Shape& lhs, const Shape& rhs, const Shape& out);

}  // namespace ingot::ops
