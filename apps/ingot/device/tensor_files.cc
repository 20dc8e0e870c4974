#include "apps/ingot/device/tensor_files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <random>

#include "aot/base/error.h"
#include "aot/base/safetensors.h"
#include "aot/graph/literal.h"
#include "apps/ingot/files/file_format.h"
#include "apps/ingot/files/npy.h"
#include "apps/ingot/terminal/names.h"

namespace ingot {
namespace {

void store(DType dtype, double value, std::byte* to) {
  if (is_float(dtype)) {
    store_float(dtype, value, to);
  } else {
    store_int(dtype, static_cast<int64_t>(value), to);
  }
}

// Throws an Error where the elements cannot be this number.
void check_number(const ingot_tensor_info& tensor, double value, const std::string& text) {
  const DType dtype = graph_dtype(tensor.dtype);
  constexpr double kIntegersEnd = 9223372036854775808.0;  // 2^63
  std::byte element[16];
  bool is_kept = is_float(dtype) || std::fabs(value) < kIntegersEnd;
  if (is_kept) store(dtype, value, element);
  if (is_kept && is_float(dtype)) is_kept = std::isfinite(load_float(dtype, element)) || !std::isfinite(value);
  if (is_kept && !is_float(dtype)) is_kept = static_cast<double>(load_int(dtype, element)) == value;
  if (!is_kept) throw_error(nullptr, fmt::format("{}: {} is no {}", tensor.name, text, ingot_dtype_name(tensor.dtype)));
}

// The number that a text is; nullopt for other texts. "1e999" is too large for any type.
std::optional<double> parse_number(const ingot_tensor_info& tensor, const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end) return std::nullopt;
  if (errno == ERANGE && std::isinf(value)) {
    throw_error(nullptr, fmt::format("{}: {} is no {}", tensor.name, text, ingot_dtype_name(tensor.dtype)));
  }
  return value;
}

void read_tensor(const std::string& path, const std::string& key, const ingot_tensor_info& tensor, bool cast,
                 std::span<std::byte> to) {
  refuse_other_formats(path, Wanted::kTensors);
  const SafeTensorsReader file(path);
  const auto found = file.arrays().find(key);
  if (found == file.arrays().end()) {
    std::vector<std::string> names;
    for (const auto& array : file.arrays()) names.push_back(array.first);
    throw_error(nullptr, fmt::format("{}: has no tensor '{}'{}", path, key, suggestion(names, key)));
  }
  const StoredType type = stored_as_safetensors(found->second.dtype, found->second.shape);
  const std::string why = mismatch(type, tensor, cast, "the input is " + to_string(tensor));
  if (!why.empty()) throw_error(nullptr, fmt::format("@{}:{}: {}", path, key, why));
  std::vector<std::byte> bytes(found->second.bytes);
  file.read(found->second, 0, bytes);
  copy_elements(*type.dtype, bytes, graph_dtype(tensor.dtype), to, fmt::format("@{}:{}", path, key));
}

}  // namespace

void fill_number(const ingot_tensor_info& tensor, double value, std::span<std::byte> to) {
  const DType dtype = graph_dtype(tensor.dtype);
  for (size_t at = 0; at < to.size(); at += info(dtype).bytes) store(dtype, value, to.data() + at);
}

void fill_random(const ingot_tensor_info& tensor, std::span<std::byte> to) {
  const DType dtype = graph_dtype(tensor.dtype);
  uint32_t seed = 0;
  for (const char* c = tensor.name; *c; ++c) seed = seed * 31 + static_cast<unsigned char>(*c);
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (size_t at = 0; at < to.size(); at += info(dtype).bytes) {
    store(dtype, is_float(dtype) ? normal(random) : static_cast<double>(random() & 1), to.data() + at);
  }
}

double scalar_value(const ingot_tensor_info& tensor, std::span<const std::byte> data) {
  const DType dtype = graph_dtype(tensor.dtype);
  return is_float(dtype) ? load_float(dtype, data.data()) : static_cast<double>(load_int(dtype, data.data()));
}

void fill_tensor(const ingot_tensor_info& tensor, const std::string& source, bool cast, std::span<std::byte> to) {
  if (source == "random") return fill_random(tensor, to);
  if (!source.starts_with("@")) {
    const std::optional<double> value = parse_number(tensor, source);
    if (!value) {
      throw_error(nullptr, fmt::format("{}: '{}' is neither @FILE.npy, @FILE.safetensors:KEY, random nor a number",
                                       tensor.name, source));
    }
    check_number(tensor, *value, source);
    return fill_number(tensor, *value, to);
  }
  const std::string path = source.substr(1);
  if (path.ends_with(".npy")) return read_npy(path, tensor, cast, to);
  const size_t colon = path.rfind(':');
  if (colon == path.npos) throw_error(nullptr, fmt::format("{}: write @FILE.npy or @FILE.safetensors:KEY", source));
  read_tensor(path.substr(0, colon), path.substr(colon + 1), tensor, cast, to);
}

std::vector<uint64_t> dims_of_source(const std::string& source) {
  if (!source.starts_with("@")) return {};
  const std::string path = source.substr(1);
  const size_t colon = path.rfind(':');
  std::vector<int64_t> shape;
  if (path.ends_with(".npy")) {
    shape = npy_shape(path);
  } else if (colon != path.npos) {
    refuse_other_formats(path.substr(0, colon), Wanted::kTensors);
    const SafeTensorsReader file(path.substr(0, colon));
    const auto found = file.arrays().find(path.substr(colon + 1));
    if (found != file.arrays().end()) shape = found->second.shape;
  }
  return {shape.begin(), shape.end()};
}

std::vector<InputSource> fill_inputs(const Device& device, uint32_t entry, const std::vector<ingot_tensor_info>& inputs,
                                     const std::vector<std::string>& settings, const Device::Bound& bound, bool cast) {
  std::vector<InputSource> sources;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    sources.push_back(device.bundle().input_default(entry, i) ? InputSource::kDefault : InputSource::kNone);
  }
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    if (equals == setting.npos) throw_error(nullptr, fmt::format("{}: write NAME=VALUE, as in lr=0.01", setting));
    const uint32_t index = device.find_input(entry, setting.substr(0, equals));
    fill_tensor(inputs[index], setting.substr(equals + 1), cast, bound.inputs[index].first(inputs[index].bytes));
    sources[index] = InputSource::kUser;
  }
  return sources;
}

}  // namespace ingot
