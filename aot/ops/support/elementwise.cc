#include "aot/ops/support/elementwise.h"

#include <fmt/format.h>

#include <numeric>

#include "aot/base/join.h"
#include "aot/ops/support/infer.h"

namespace ingot {
namespace {

DTypeSet set_of(DType dtype) {
  switch (info(dtype).dtype_class) {
    case DTypeClass::kFloat:
      return kFloats;
    case DTypeClass::kSigned:
      return kSignedIntegers;
    case DTypeClass::kUnsigned:
      return kUnsignedIntegers;
    case DTypeClass::kBool:
      return kBooleans;
    case DTypeClass::kComplex:
      return kComplex;
    case DTypeClass::kNone:
      break;
  }
  return 0;
}

std::string describe(DTypeSet set) {
  if (set == kAnyDType) return "any element type";
  std::vector<std::string> names;
  if (set & kFloats) names.push_back("floats");
  if ((set & kIntegers) == kIntegers) {
    names.push_back("integers");
  } else if (set & kSignedIntegers) {
    names.push_back("signed integers");
  }
  if (set & kBooleans) names.push_back("i1");
  if (set & kComplex) names.push_back("complex numbers");
  return join(names, ", ");
}

// Which dtype is sampled at which shape: 37 has whole vectors and a rest for every vector length.
struct SampleRow {
  DType dtype;
  Shape shape;
};

std::vector<SampleRow> sample_rows(DTypeSet dtypes) {
  std::vector<SampleRow> rows = {
      {DType::kF32, {37}}, {DType::kF32, {}},     {DType::kF64, {5, 7}}, {DType::kF16, {37}},    {DType::kBF16, {3, 5}},
      {DType::kI32, {37}}, {DType::kI64, {}},     {DType::kI8, {5, 7}},  {DType::kI4, {9}},      {DType::kI16, {3, 0}},
      {DType::kUI32, {3}}, {DType::kUI64, {19}},  {DType::kUI8, {5, 7}}, {DType::kUI16, {11}},   {DType::kUI2, {4}},
      {DType::kI1, {37}},  {DType::kF32, {0, 4}}, {DType::kC64, {37}},   {DType::kC128, {5, 7}}, {DType::kC64, {}},
  };
  std::erase_if(rows, [&](const SampleRow& row) { return !contains(dtypes, row.dtype); });
  return rows;
}

std::vector<Sample> same_type_samples(std::string_view name, int operand_count, DTypeSet dtypes, Range wide,
                                      std::optional<Range> smooth) {
  const auto text = [&](const TensorType& type) {
    const bool is_unary = operand_count == 1;
    std::string types = to_string(type);
    if (name.starts_with("chlo.")) types = fmt::format("{}{} -> {}", types, is_unary ? "" : ", " + types, types);
    return sample_text(std::vector<TensorType>(operand_count, type), type,
                       fmt::format("{} {} : {}", name, is_unary ? "%a0" : "%a0, %a1", types));
  };
  std::vector<Sample> samples;
  for (const SampleRow& row : sample_rows(dtypes)) {
    samples.push_back({.text = text({row.dtype, row.shape}),
                       .low = wide.low,
                       .high = wide.high,
                       .specials = !is_complex(row.dtype),
                       .differentiable = false});
  }
  if (smooth) {
    samples.push_back({.text = text({DType::kF64, {2, 3}}), .low = smooth->low, .high = smooth->high});
  }
  return samples;
}

}  // namespace

bool contains(DTypeSet set, DType dtype) { return set & set_of(dtype); }

std::vector<TensorType> infer_same(const InferArgs& args, size_t operand_count, DTypeSet allowed) {
  ops::check_operand_count(args, operand_count);
  const TensorType& type = args.operands[0];
  for (size_t i = 1; i < operand_count; ++i) {
    if (args.operands[i] != type) {
      args.fail(fmt::format("operands must have one type, but operand 0 is {} and operand {} is {}", to_string(type), i,
                            to_string(args.operands[i])));
    }
  }
  if (!contains(allowed, type.dtype)) {
    args.fail(fmt::format("is not defined for {}; it takes {}", to_string(type), describe(allowed)));
  }
  return {type};
}

double maximum(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return NAN;
  if (x == y) return std::signbit(x) ? y : x;
  return x > y ? x : y;
}

double minimum(double x, double y) { return -maximum(-x, -y); }

std::vector<int64_t> all_dims(const Shape& shape) {
  std::vector<int64_t> dims(shape.size());
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

std::vector<RefTensor> map_unary(const EvaluateArgs& args, FloatUnary f, IntUnary i) {
  const RefTensor& x = args.inputs[0];
  RefTensor y(args.result_type());
  for (size_t k = 0; k < y.f.size(); ++k) y.f[k] = f(x.f[k]);
  for (size_t k = 0; k < y.i.size(); ++k) y.i[k] = i(x.i[k], x.type.dtype);
  return {std::move(y)};
}

std::vector<RefTensor> map_binary(const EvaluateArgs& args, FloatBinary f, IntBinary i) {
  const RefTensor& x = args.inputs[0];
  const RefTensor& y = args.inputs[1];
  RefTensor z(args.result_type());
  for (size_t k = 0; k < z.f.size(); ++k) z.f[k] = f(x.f[k], y.f[k]);
  for (size_t k = 0; k < z.i.size(); ++k) z.i[k] = i(x.i[k], y.i[k], x.type.dtype);
  return {std::move(z)};
}

std::string sample_text(const std::vector<TensorType>& operands, const TensorType& result, std::string_view op) {
  std::vector<std::string> arguments;
  for (const TensorType& type : operands)
    arguments.push_back(fmt::format("%a{}: {}", arguments.size(), to_string(type)));
  return fmt::format("func.func @main({}) -> {} {{\n  %r = {}\n  return %r : {}\n}}\n", join(arguments, ", "),
                     to_string(result), op, to_string(result));
}

std::vector<Sample> unary_samples(std::string_view name, DTypeSet dtypes, Range wide, std::optional<Range> smooth) {
  return same_type_samples(name, 1, dtypes, wide, smooth);
}

std::vector<Sample> binary_samples(std::string_view name, DTypeSet dtypes, Range wide, std::optional<Range> smooth) {
  return same_type_samples(name, 2, dtypes, wide, smooth);
}

std::vector<Sample> shift_samples(std::string_view name) {
  std::vector<Sample> samples = binary_samples(name, kIntegers);
  const size_t count = samples.size();
  for (size_t k = 0; k < count; ++k) {
    Sample small = samples[k];
    small.integer_low = 0;
    small.integer_high = 9;
    small.specials = false;
    samples.push_back(std::move(small));
  }
  return samples;
}

}  // namespace ingot
