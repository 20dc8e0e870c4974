#include "aot/base/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "aot/base/error.h"
#include "aot/base/file.h"

namespace ingot {
namespace {

using nlohmann::json;

int64_t dtype_bytes(const std::string& dtype) {
  static const std::map<std::string, int64_t> kBytes = {
      {"BOOL", 1}, {"I8", 1},  {"U8", 1},    {"I16", 2},     {"U16", 2},    {"F16", 2},
      {"BF16", 2}, {"I32", 4}, {"U32", 4},   {"F32", 4},     {"I64", 8},    {"U64", 8},
      {"F64", 8},  {"C64", 8}, {"C128", 16}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};
  const auto found = kBytes.find(dtype);
  return found == kBytes.end() ? 0 : found->second;
}

using Array = SafeTensorsReader::Array;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw_error(nullptr, fmt::format("{}: {}", path, what));
}

// The bytes of the header, from the first eight of the file.
uint64_t header_length(const std::string& path, std::span<const std::byte> first, uint64_t file_bytes) {
  uint64_t header_bytes = 0;
  if (first.size() >= sizeof header_bytes) std::memcpy(&header_bytes, first.data(), sizeof header_bytes);
  if (first.size() < sizeof header_bytes || header_bytes > file_bytes - sizeof header_bytes) {
    fail(path, "is not a safetensors file: its header is longer than the file");
  }
  return header_bytes;
}

// A list of whole numbers from 0; other numbers would be converted without a word.
std::vector<uint64_t> read_sizes(const std::string& path, const std::string& name, const json& entry, const char* key) {
  const json& list = entry.at(key);
  const auto is_size = [](const json& number) { return number.is_number_unsigned(); };
  if (!list.is_array() || !std::ranges::all_of(list, is_size)) {
    fail(path, fmt::format("tensor '{}': its {} is no list of whole numbers from 0", name, key));
  }
  return list.get<std::vector<uint64_t>>();
}

Array read_array(const std::string& path, const std::string& name, const json& entry, uint64_t data_at,
                 uint64_t file_bytes) {
  Array array{entry.at("dtype"), {}, 0, static_cast<uint64_t>(dtype_bytes(entry.at("dtype")))};
  if (array.bytes == 0) fail(path, fmt::format("tensor '{}' has the unknown dtype {}", name, array.dtype));
  for (const uint64_t dim : read_sizes(path, name, entry, "shape")) {
    if (dim > INT64_MAX || __builtin_mul_overflow(array.bytes, dim, &array.bytes)) array.bytes = UINT64_MAX;
    array.shape.push_back(static_cast<int64_t>(dim));
  }
  const std::vector<uint64_t> offsets = read_sizes(path, name, entry, "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > file_bytes - data_at ||
      offsets[1] - offsets[0] != array.bytes) {
    fail(path, fmt::format("tensor '{}': its data offsets do not fit its shape or the file", name));
  }
  array.offset_bytes = data_at + offsets[0];
  return array;
}

struct Header {
  std::map<std::string, Array> arrays;
  std::map<std::string, std::string> metadata;
};

Header read_header(const std::string& path, std::string_view text, uint64_t file_bytes) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) fail(path, "is not a safetensors file: its header is not a JSON object");
  Header header;
  try {
    for (const auto& [name, entry] : object.items()) {
      if (name == "__metadata__") {
        header.metadata = entry.get<std::map<std::string, std::string>>();
      } else {
        header.arrays.emplace(name, read_array(path, name, entry, sizeof(uint64_t) + text.size(), file_bytes));
      }
    }
  } catch (const json::exception& error) {
    fail(path, fmt::format("its header is malformed: {}", error.what()));
  }
  return header;
}

}  // namespace

SafeTensors SafeTensors::read(const std::string& path) {
  SafeTensors file;
  file.bytes_ = read_bytes(path);
  const std::span<const std::byte> bytes = file.bytes_;
  const uint64_t length = header_length(path, bytes, bytes.size());
  const char* text = reinterpret_cast<const char*>(bytes.data()) + sizeof length;
  Header header = read_header(path, {text, length}, bytes.size());
  for (auto& [name, array] : header.arrays) {
    file.tensors_[name] = {array.dtype, std::move(array.shape), bytes.subspan(array.offset_bytes, array.bytes)};
  }
  file.metadata_ = std::move(header.metadata);
  return file;
}

SafeTensorsReader::SafeTensorsReader(const std::string& path)
    : SafeTensorsReader(path, ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat about = {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &about) != 0) {
    throw_error(nullptr, fmt::format("cannot read {}: {}; is the path right?", path, std::strerror(errno)));
  }
  if (!S_ISREG(about.st_mode)) fail(path, "is no regular file, of which a part can be read at a time");
  const auto file_bytes = static_cast<uint64_t>(about.st_size);
  std::array<std::byte, sizeof(uint64_t)> first = {};
  const Array start{"", {}, 0, file_bytes};
  if (file_bytes >= first.size()) read(start, 0, first);
  const uint64_t length = header_length(path, std::span(first).first(std::min(file_bytes, first.size())), file_bytes);
  std::string text(length, '\0');
  read(start, first.size(), std::as_writable_bytes(std::span(text)));
  arrays_ = read_header(path, text, file_bytes).arrays;
}

SafeTensorsReader::SafeTensorsReader(SafeTensorsReader&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      arrays_(std::move(other.arrays_)) {}

SafeTensorsReader::~SafeTensorsReader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void SafeTensorsReader::read(const Array& array, uint64_t begin, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t count = ::pread(descriptor_, to.data(), to.size(), static_cast<off_t>(array.offset_bytes + begin));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path_, fmt::format("cannot be read: {}", std::strerror(errno)));
    if (count == 0) fail(path_, "has become shorter since it was opened");
    begin += static_cast<uint64_t>(count);
    to = to.subspan(static_cast<size_t>(count));
  }
}

const SafeTensor* SafeTensors::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

void write_safetensors(const std::string& path, const std::map<std::string, SafeTensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  json header = json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    header[name] = {
        {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + tensor.data.size()}}};
    offset += tensor.data.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the data starts at a multiple of 8
  const uint64_t header_bytes = text.size();
  WholeFile file(path);
  file.write(std::as_bytes(std::span(&header_bytes, 1)));
  file.write(text);
  for (const auto& [name, tensor] : tensors) file.write(tensor.data);
  file.commit();
}

}  // namespace ingot
