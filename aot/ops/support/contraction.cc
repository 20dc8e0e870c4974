#include "aot/ops/support/contraction.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/graph/attributes.h"

namespace ingot::ops {
namespace {

DType sum_of_pairs(const InferArgs& args) {
  const DType result = args.declared.empty() ? DType::kI32 : args.declared_result().dtype;
  const bool are_words = args.operands[0].dtype == DType::kI32 && args.operands[1].dtype == DType::kI32;
  if (!are_words || !is_float(result) || accumulate_dtype(result) != DType::kF32)
    args.fail(fmt::format("{} needs operands of i32 and a result of f32, f16 or bf16", attributes::kPairs));
  return result;
}

}  // namespace

DType product_dtype(const InferArgs& args) {
  const DType x = args.operands[0].dtype, y = args.operands[1].dtype;
  if (args.attrs().has(attributes::kPairs)) return sum_of_pairs(args);
  if (info(x).dtype_class != info(y).dtype_class) {
    args.fail(fmt::format("cannot multiply {} by {}", to_string(args.operands[0]), to_string(args.operands[1])));
  }
  if (args.declared.empty()) {
    if (x != y)
      args.fail(fmt::format("the result's type must be given for operands of {} and {}", to_string(x), to_string(y)));
    return x;
  }
  const DType result = args.declared_result().dtype;
  if (is_float(result) != is_float(x) || is_bool(result) != is_bool(x) || is_complex(result) != is_complex(x)) {
    args.fail(fmt::format("sums of {} cannot be {}", to_string(x), to_string(result)));
  }
  return result;
}

int unsigned_bytes(const Op& op) { return static_cast<int>(op.attrs().integer(attributes::kUnsignedBytes, -1)); }

bool multiplies_pairs(const Op& op) { return op.attrs().has(attributes::kPairs); }

void check_unsigned_bytes(const InferArgs& args) {
  const auto is_i32 = [](const TensorType& type) { return type.dtype == DType::kI32; };
  const int64_t operand = args.attrs().integer(attributes::kUnsignedBytes, -1);
  if (!args.attrs().has(attributes::kUnsignedBytes)) return;
  if (operand != 0 && operand != 1)
    args.fail(fmt::format("{} = {} must be 0 or 1, an operand", attributes::kUnsignedBytes, operand));
  if (!std::ranges::all_of(args.operands, is_i32) || !std::ranges::all_of(args.declared, is_i32))
    args.fail(fmt::format("{} needs operands and results of i32", attributes::kUnsignedBytes));
}

std::vector<loops::ContractionTriangle> triangles(const Op& op) {
  std::vector<loops::ContractionTriangle> triangles;
  const std::vector<int64_t> values = op.attrs().ints(attributes::kTriangles, {});
  for (size_t k = 0; k < values.size(); k += 3)
    triangles.push_back({static_cast<int>(values[k]), static_cast<int>(values[k + 1]), values[k + 2]});
  return triangles;
}

void check_triangles(const InferArgs& args, int dims) {
  const std::vector<int64_t> values = args.attrs().ints(attributes::kTriangles, {});
  const auto is_dim = [&](int64_t dim) { return dim >= 0 && dim < dims; };
  for (size_t k = 0; k < values.size(); k += 3) {
    if (k + 2 < values.size() && is_dim(values[k]) && is_dim(values[k + 1]) && values[k] != values[k + 1]) continue;
    args.fail(fmt::format("{} must be triples: two of the {} dimensions of the iteration space and an offset",
                          attributes::kTriangles, dims));
  }
}

DType accumulate_dtype(DType result) {
  if (is_complex(result)) return part_of(result);
  if (is_float(result)) return info(result).bits < 32 ? DType::kF32 : result;
  if (is_bool(result) || info(result).bits >= 32) return result;
  return is_unsigned(result) ? DType::kUI32 : DType::kI32;
}

std::vector<std::complex<double>> complex_values(const RefTensor& tensor) {
  std::vector<std::complex<double>> values;
  for (int64_t k = 0; k < tensor.elements(); ++k) values.push_back(tensor.complex_at(k));
  return values;
}

void set_complex_values(RefTensor& tensor, const std::vector<std::complex<double>>& values) {
  for (size_t k = 0; k < values.size(); ++k) tensor.set_complex(static_cast<int64_t>(k), values[k]);
}

int add_dim(loops::Contraction& c, loops::ContractionDim::Kind kind, int64_t extent) {
  c.dims.push_back({kind, extent});
  return static_cast<int>(c.dims.size()) - 1;
}

std::vector<int64_t> unit(int dim) {
  std::vector<int64_t> coefficients(dim + 1);
  coefficients[dim] = 1;
  return coefficients;
}

void finish(loops::Contraction& c, const Shape& lhs, const Shape& rhs, const Shape& out) {
  Shape space;
  for (const loops::ContractionDim& dim : c.dims) space.push_back(dim.extent);
  settle(c.lhs, space, lhs);
  settle(c.rhs, space, rhs);
  settle(c.out, space, out);
}

}  // namespace ingot::ops
