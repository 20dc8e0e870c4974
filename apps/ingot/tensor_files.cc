#include "apps/ingot/tensor_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>

#include "aot/base/error.h"
#include "aot/base/file.h"
#include "aot/base/join.h"
#include "aot/graph/literal.h"

namespace ingot {
namespace {

DType graph_dtype(ingot_dtype dtype) {
  const auto found = dtype_from_name(ingot_dtype_name(dtype));
  if (!found)
    throw_limit(nullptr, fmt::format("{} data cannot be filled in from the command line", ingot_dtype_name(dtype)));
  return *found;
}

void store(DType dtype, double value, std::byte* to) {
  if (is_float(dtype)) {
    store_float(dtype, value, to);
  } else {
    store_int(dtype, static_cast<int64_t>(value), to);
  }
}

std::string type_text(const std::string& dtype, const std::vector<int64_t>& shape) {
  return fmt::format("{}[{}]", dtype, join(shape, ","));
}

std::vector<int64_t> shape_of(const ingot_tensor_info& tensor) { return {tensor.dims, tensor.dims + tensor.rank}; }

// NumPy's dtype string for a StableHLO dtype; "" when NumPy has none.
std::string numpy_descr(DType dtype) {
  if (dtype == DType::kBF16) return "";
  const char kind = is_bool(dtype) ? 'b' : is_float(dtype) ? 'f' : is_signed(dtype) ? 'i' : 'u';
  const int bytes = info(dtype).bytes;
  return fmt::format("{}{}{}", bytes == 1 ? '|' : '<', kind, bytes);
}

std::string numpy_shape(const std::vector<int64_t>& shape) {
  return fmt::format("({}{})", join(shape, ", "), shape.size() == 1 ? "," : "");
}

// A real tensor with a last dimension of 2 has the bytes of complex numbers.
bool is_view_of_complex(const ingot_tensor_info& tensor) {
  const bool is_part = tensor.dtype == INGOT_F32 || tensor.dtype == INGOT_F64;
  return is_part && tensor.rank > 0 && tensor.dims[tensor.rank - 1] == 2;
}
std::vector<int64_t> pairs_of(std::vector<int64_t> shape) {
  shape.pop_back();
  return shape;
}
std::string complex_descr(DType part) { return fmt::format("<c{}", 2 * info(part).bytes); }

void read_npy(const std::string& path, const ingot_tensor_info& tensor, std::span<std::byte> to) {
  const auto fail = [&](const std::string& what) { throw_error(nullptr, fmt::format("{}: {}", path, what)); };
  std::ifstream in(path, std::ios::binary);
  if (!in) fail("cannot be opened; is the path right?");
  char magic[8];
  in.read(magic, sizeof magic);
  if (!in || std::memcmp(magic, "\x93NUMPY", 6) != 0) fail("is not a .npy file");
  uint32_t header_bytes = 0;
  in.read(reinterpret_cast<char*>(&header_bytes), magic[6] == 1 ? 2 : 4);
  if (!in || header_bytes > (1u << 20)) fail("has a malformed header");
  std::string header(header_bytes, ' ');
  in.read(header.data(), header_bytes);
  const auto is = [&](const std::string& descr, const std::vector<int64_t>& shape) {
    return header.find("'" + descr + "'") != header.npos && header.find(numpy_shape(shape)) != header.npos &&
           header.find("'fortran_order': False") != header.npos;
  };
  const DType dtype = graph_dtype(tensor.dtype);
  const std::vector<int64_t> shape = shape_of(tensor);
  if (!is(numpy_descr(dtype), shape) && !(is_view_of_complex(tensor) && is(complex_descr(dtype), pairs_of(shape)))) {
    fail(fmt::format("must be C-ordered {} {} for {}, but its header is {}", numpy_descr(dtype), numpy_shape(shape),
                     to_string(tensor), header));
  }
  in.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size()));
  if (!in) fail("ends before its data does");
}

bool has_suffix(const std::string& name, const std::string& suffix) {
  return name.size() > suffix.size() && name.ends_with(suffix) && name[name.size() - suffix.size() - 1] == '.';
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

void fill_tensor(const ingot_tensor_info& tensor, const std::string& source, std::span<std::byte> to) {
  if (source == "random") return fill_random(tensor, to);
  if (!source.starts_with("@")) {
    char* end = nullptr;
    const double value = std::strtod(source.c_str(), &end);
    if (source.empty() || *end) {
      throw_error(nullptr, fmt::format("{}: '{}' is neither @FILE.npy, @FILE.safetensors:KEY, random nor a number",
                                       tensor.name, source));
    }
    return fill_number(tensor, value, to);
  }
  const std::string path = source.substr(1);
  if (path.ends_with(".npy")) return read_npy(path, tensor, to);
  const size_t colon = path.rfind(':');
  if (colon == path.npos) throw_error(nullptr, fmt::format("{}: write @FILE.npy or @FILE.safetensors:KEY", source));
  const SafeTensors file = SafeTensors::read(path.substr(0, colon));
  const std::string key = path.substr(colon + 1);
  const SafeTensor* found = file.find(key);
  if (!found) throw_error(nullptr, fmt::format("{}: has no tensor '{}'", path.substr(0, colon), key));
  const bool is_complex = is_view_of_complex(tensor) &&
                          found->dtype == info(complex_of(graph_dtype(tensor.dtype))).safetensors &&
                          found->shape == pairs_of(shape_of(tensor));
  if (!is_complex && (found->dtype != ingot_dtype_safetensors(tensor.dtype) || found->shape != shape_of(tensor))) {
    throw_error(nullptr, fmt::format("{}: is {}, but the input is {}", source, type_text(found->dtype, found->shape),
                                     to_string(tensor)));
  }
  std::memcpy(to.data(), found->data.data(), to.size());
}

void write_npy(const std::string& path, const ingot_tensor_info& tensor, std::span<const std::byte> data) {
  std::string descr = numpy_descr(graph_dtype(tensor.dtype));
  if (descr.empty()) descr = "<u2";  // NumPy has no bf16: its bits
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, numpy_shape(shape_of(tensor)));
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  const auto header_bytes = static_cast<uint16_t>(header.size());
  WholeFile file(path);
  file.write(std::string_view("\x93NUMPY\x01\x00", 8));
  file.write(std::as_bytes(std::span(&header_bytes, 1)));
  file.write(header);
  file.write(data);
  file.commit();
}

std::vector<InputSource> fill_inputs(const Device& device, uint32_t entry, const std::vector<std::string>& settings,
                                     const Device::Bound& bound) {
  const std::vector<ingot_tensor_info> inputs = device.inputs(entry);
  std::vector<InputSource> sources;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    sources.push_back(device.bundle().input_default(entry, i) ? InputSource::kDefault : InputSource::kNone);
  }
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    if (equals == setting.npos) throw_error(nullptr, fmt::format("{}: write NAME=VALUE, as in lr=0.01", setting));
    const uint32_t index = device.find_input(entry, setting.substr(0, equals));
    fill_tensor(inputs[index], setting.substr(equals + 1), bound.inputs[index]);
    sources[index] = InputSource::kUser;
  }
  return sources;
}

Batches::Batches(const std::string& path, const std::vector<ingot_tensor_info>& inputs,
                 const std::vector<InputSource>& sources)
    : file_(SafeTensors::read(path)) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    rows_.emplace_back();
    if (sources[i] == InputSource::kUser) continue;
    const ingot_tensor_info& input = inputs[i];
    const SafeTensor* tensor = file_.find(input.name);
    std::string key = input.name;
    for (const auto& [name, candidate] : file_.tensors()) {
      if (tensor || !(has_suffix(name, input.name) || has_suffix(input.name, name))) continue;
      tensor = &candidate;
      key = name;
    }
    if (!tensor && sources[i] == InputSource::kDefault) continue;
    if (!tensor) {
      throw_error(nullptr, fmt::format("{}: has no tensor for the input {}; give it there, or a scalar by --set {}=...",
                                       path, to_string(input), input.name));
    }
    std::vector<int64_t> row_shape(tensor->shape.begin() + !tensor->shape.empty(), tensor->shape.end());
    if (tensor->shape.empty() || tensor->dtype != ingot_dtype_safetensors(input.dtype) ||
        row_shape != shape_of(input)) {
      throw_error(nullptr,
                  fmt::format("{}: '{}' is {}, but rows for the input {} are wanted (the first dimension is the step)",
                              path, key, type_text(tensor->dtype, tensor->shape), to_string(input)));
    }
    const int64_t count = tensor->shape[0];
    if (count == 0) throw_error(nullptr, fmt::format("{}: '{}' has no steps: its first dimension is 0", path, key));
    if (count_ != 0 && count != count_) {
      throw_error(nullptr, fmt::format("{}: '{}' has {} steps, other inputs have {}", path, key, count, count_));
    }
    count_ = count;
    rows_.back() = tensor->data;
  }
  if (count_ == 0) count_ = 1;  // every input has its value from elsewhere
}

void Batches::fill(int64_t step, std::span<const std::span<std::byte>> inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (rows_[i].empty()) continue;
    std::memcpy(inputs[i].data(), rows_[i].data() + (step % count_) * inputs[i].size(), inputs[i].size());
  }
}

}  // namespace ingot
