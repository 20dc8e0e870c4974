#include "apps/ingot/files/stored_array.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "aot/base/error.h"
#include "aot/base/join.h"
#include "aot/graph/literal.h"

namespace ingot {
namespace {

StoredType stored(const std::string& name, std::optional<DType> dtype, std::vector<int64_t> shape) {
  StoredType type{fmt::format("{}[{}]", name, join(shape, ",")), dtype, std::move(shape)};
  if (dtype && is_complex(*dtype)) {
    type.dtype = part_of(*dtype);
    type.shape.push_back(2);
  }
  return type;
}

// Types narrower than a byte are stored as bytes.
DType storage_dtype(DType dtype) {
  if (info(dtype).bits >= 8 || is_bool(dtype)) return dtype;
  return is_signed(dtype) ? DType::kI8 : DType::kUI8;
}

bool can_cast(DType from, DType to) {
  const auto is_number = [](DType d) { return is_float(d) || is_integer(d) || is_bool(d); };
  if (!is_number(from) || !is_number(to)) return false;
  return is_float(to) || !is_float(from);  // a float is not silently cut to an integer
}

}  // namespace

StoredType stored_as_safetensors(const std::string& dtype, std::vector<int64_t> shape) {
  std::optional<DType> found;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto candidate = static_cast<DType>(i);
    if (!found && info(candidate).safetensors == dtype && storage_dtype(candidate) == candidate) found = candidate;
  }
  return stored(dtype, found, std::move(shape));
}

StoredType stored_as_numpy(const std::string& descr, std::vector<int64_t> shape) {
  static constexpr struct {
    const char* descr;
    DType dtype;
  } kNames[] = {{"b1", DType::kI1},   {"i1", DType::kI8},   {"i2", DType::kI16},  {"i4", DType::kI32},
                {"i8", DType::kI64},  {"u1", DType::kUI8},  {"u2", DType::kUI16}, {"u4", DType::kUI32},
                {"u8", DType::kUI64}, {"f2", DType::kF16},  {"f4", DType::kF32},  {"f8", DType::kF64},
                {"c8", DType::kC64},  {"c16", DType::kC128}};
  const bool is_ours = descr.size() > 2 && (descr[0] == '<' || descr[0] == '|' || descr[0] == '=');
  std::optional<DType> found;
  for (const auto& [name, dtype] : kNames) {
    if (is_ours && descr.substr(1) == name) found = dtype;
  }
  return stored(descr, found, std::move(shape));
}

DType graph_dtype(ingot_dtype dtype) {
  const auto found = dtype_from_name(ingot_dtype_name(dtype));
  if (!found)
    throw_limit(nullptr, fmt::format("{} data cannot be filled in from the command line", ingot_dtype_name(dtype)));
  return *found;
}

std::vector<int64_t> shape_of(const ingot_tensor_info& tensor) { return {tensor.dims, tensor.dims + tensor.rank}; }

std::string to_string(const ingot_tensor_info& tensor) {
  return fmt::format("{}: {}[{}]", tensor.name, ingot_dtype_name(tensor.dtype), join(shape_of(tensor), ","));
}

std::string mismatch(const StoredType& stored, const ingot_tensor_info& tensor, bool cast, const std::string& wanted) {
  if (!stored.dtype) return fmt::format("has elements of the type {}, which ingot does not read", stored.text);
  const DType to = graph_dtype(tensor.dtype);
  const bool has_shape = stored.shape == shape_of(tensor), would_cast = has_shape && can_cast(*stored.dtype, to);
  if ((has_shape && *stored.dtype == storage_dtype(to)) || (cast && would_cast)) return "";
  return fmt::format("is {}, but {}{}", stored.text, wanted, would_cast ? "; --cast converts it" : "");
}

void copy_elements(DType from, std::span<const std::byte> data, DType to, std::span<std::byte> result,
                   const std::string& name) {
  if (from == storage_dtype(to)) {
    std::memcpy(result.data(), data.data(), result.size());
    return;
  }
  const size_t from_bytes = info(from).bytes, to_bytes = info(to).bytes;
  for (size_t i = 0; i * to_bytes < result.size(); ++i) {
    const std::byte* source = data.data() + i * from_bytes;
    std::byte* target = result.data() + i * to_bytes;
    if (is_float(from)) {
      store_float(to, load_float(from, source), target);
      continue;
    }
    const int64_t value = load_int(from, source);
    if (is_float(to)) {
      const bool is_large = from == DType::kUI64 && value < 0;
      store_float(to, is_large ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value),
                  target);
      continue;
    }
    store_int(to, value, target);
    const bool is_sign_lost = value < 0 && (from == DType::kUI64) != (to == DType::kUI64);
    if (load_int(to, target) != value || is_sign_lost) {
      throw_error(nullptr, fmt::format("{}: element {} is {}, which is no {}", name, i, value, to_string(to)));
    }
  }
}

}  // namespace ingot
