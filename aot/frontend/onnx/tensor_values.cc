// The values of TensorProto messages.
#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <filesystem>

#include "aot/base/divide.h"
#include "aot/base/error.h"
#include "aot/frontend/onnx/read_model.h"

namespace ingot::onnx {
namespace {

constexpr int64_t kElementsMax = int64_t{1} << 40;

[[noreturn]] void fail(const TensorData& tensor, const std::string& message) {
  throw_error(nullptr, fmt::format("the tensor '{}' {}", tensor.name, message));
}

std::string_view external(const TensorData& tensor, std::string_view key) {
  for (const KeyValue& pair : tensor.external) {
    if (pair.key == key) return pair.value;
  }
  return {};
}

uint64_t external_number(const TensorData& tensor, std::string_view key, uint64_t otherwise) {
  const std::string_view text = external(tensor, key);
  if (text.empty()) return otherwise;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(tensor, fmt::format("has external data whose {} is no number: '{}'", key, text));
  }
  return number;
}

// The mapped file beside the model that holds the tensor's values: it stays in the model's folder.
std::string_view external_bytes(const TensorData& tensor, const Model* model) {
  const std::filesystem::path location(external(tensor, "location"));
  const std::filesystem::path normal = location.lexically_normal();
  const bool leaves = normal.empty() || normal.is_absolute() || *normal.begin() == "..";
  if (leaves || !model) {
    fail(tensor,
         fmt::format("has its values in the file '{}', which must lie in the model's folder", location.string()));
  }
  const MappedFile& file = model->external_file(normal.string());
  const uint64_t offset = external_number(tensor, "offset", 0);
  const uint64_t size = file.bytes().size();
  if (offset > size)
    fail(tensor, fmt::format("starts at byte {} of '{}', which has {}", offset, location.string(), size));
  const uint64_t length = external_number(tensor, "length", size - offset);
  if (length > size - offset) {
    fail(tensor,
         fmt::format("takes {} bytes from byte {} of '{}', which has {}", length, offset, location.string(), size));
  }
  return file.bytes().substr(offset, length);
}

// How many values share a byte of raw data.
int packed_per_byte(DType dtype) { return info(dtype).bits < 8 && !is_bool(dtype) ? 8 / info(dtype).bits : 1; }

std::vector<std::byte> unpacked(const TensorData& tensor, const TensorType& type, std::string_view raw) {
  const int bits = info(type.dtype).bits, per_byte = packed_per_byte(type.dtype);
  const int64_t wanted = divide_up(type.elements(), per_byte);
  if (wanted != std::ssize(raw)) {
    fail(tensor, fmt::format("is {}, which takes {} bytes, but has {}", to_string(type), wanted, raw.size()));
  }
  std::vector<std::byte> bytes(type.elements());
  for (int64_t k = 0; k < type.elements(); ++k) {
    const auto byte = static_cast<uint8_t>(raw[k / per_byte]);
    int value = (byte >> (k % per_byte * bits)) & ((1 << bits) - 1);
    if (is_signed(type.dtype) && (value >> (bits - 1))) value -= 1 << bits;
    bytes[k] = static_cast<std::byte>(value);
  }
  return bytes;
}

std::string_view raw_bytes(const TensorData& tensor, const Model* model) {
  return tensor.is_external ? external_bytes(tensor, model) : tensor.raw;
}

template <typename T>
void check_count(const TensorData& tensor, const TensorType& type, const std::vector<T>& values, int64_t per_element) {
  if (std::ssize(values) == type.elements() * per_element) return;
  fail(tensor, fmt::format("is {} but has {} values", to_string(type), std::ssize(values) / per_element));
}

template <typename T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// From int32_data and the like: integers as they are, narrow floats as bits; what is narrower than a byte is packed.
std::vector<std::byte> bytes_of_ints(const TensorData& tensor, const TensorType& type) {
  const int width = info(type.dtype).bytes;
  if (packed_per_byte(type.dtype) > 1) {
    std::string raw;
    for (const int64_t value : tensor.ints) raw.push_back(static_cast<char>(value));
    return unpacked(tensor, type, raw);
  }
  check_count(tensor, type, tensor.ints, 1);
  std::vector<std::byte> bytes(tensor.ints.size() * width);
  for (size_t k = 0; k < tensor.ints.size(); ++k) std::memcpy(bytes.data() + k * width, &tensor.ints[k], width);
  return bytes;
}

std::vector<std::byte> bytes_of_lists(const TensorData& tensor, const TensorType& type) {
  const int64_t parts = is_complex(type.dtype) ? 2 : 1;
  if (part_of(type.dtype) == DType::kF32) {
    check_count(tensor, type, tensor.floats, parts);
    return bytes_of(tensor.floats);
  }
  if (part_of(type.dtype) == DType::kF64) {
    check_count(tensor, type, tensor.doubles, parts);
    return bytes_of(tensor.doubles);
  }
  return bytes_of_ints(tensor, type);
}

void make_truth_values(std::vector<std::byte>& bytes) {
  for (std::byte& byte : bytes) byte = std::byte{byte != std::byte{0}};
}

}  // namespace

TensorType type_of(const TensorData& tensor) {
  TensorType type{dtype_of(tensor.data_type, fmt::format("the tensor '{}'", tensor.name)), tensor.dims};
  int64_t elements = 1;
  for (const int64_t size : type.shape) {
    if (size < 0) fail(tensor, fmt::format("has a dimension of {}", size));
    if (size > kElementsMax || (size && elements > kElementsMax / size)) fail(tensor, "has more than 2^40 elements");
    elements *= size;
  }
  return type;
}

LiteralRef literal_of(const TensorData& tensor, const Model* model) {
  const TensorType type = type_of(tensor);
  std::vector<std::byte> bytes;
  if (!tensor.has_raw && !tensor.is_external) {
    bytes = bytes_of_lists(tensor, type);
  } else {
    const std::string_view raw = raw_bytes(tensor, model);
    if (packed_per_byte(type.dtype) > 1) {
      bytes = unpacked(tensor, type, raw);
    } else {
      if (type.bytes() != std::ssize(raw)) {
        fail(tensor, fmt::format("is {}, which takes {} bytes, but has {}", to_string(type), type.bytes(), raw.size()));
      }
      const auto from = std::as_bytes(std::span(raw));
      bytes.assign(from.begin(), from.end());
    }
  }
  if (is_bool(type.dtype)) make_truth_values(bytes);
  return dense(type, std::move(bytes));
}

std::span<const std::byte> mapped_bytes(const TensorData& tensor, const Model& model) {
  const TensorType type = type_of(tensor);
  if ((!tensor.has_raw && !tensor.is_external) || is_bool(type.dtype) || packed_per_byte(type.dtype) > 1) return {};
  const std::string_view raw = raw_bytes(tensor, &model);
  if (type.bytes() != std::ssize(raw)) {
    fail(tensor, fmt::format("is {}, which takes {} bytes, but has {}", to_string(type), type.bytes(), raw.size()));
  }
  return std::as_bytes(std::span(raw));
}

}  // namespace ingot::onnx
