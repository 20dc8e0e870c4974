#include "aot/base/safetensors.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

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

}  // namespace

SafeTensors SafeTensors::read(const std::string& path) {
  const auto fail = [&](const std::string& what) { throw_error(nullptr, fmt::format("{}: {}", path, what)); };
  SafeTensors file;
  file.bytes_ = read_bytes(path);
  uint64_t header_bytes = 0;
  if (file.bytes_.size() >= sizeof header_bytes) std::memcpy(&header_bytes, file.bytes_.data(), sizeof header_bytes);
  if (file.bytes_.size() < sizeof header_bytes || header_bytes > file.bytes_.size() - sizeof header_bytes) {
    fail("is not a safetensors file: its header is longer than the file");
  }
  const char* text = reinterpret_cast<const char*>(file.bytes_.data()) + sizeof header_bytes;
  const json header = json::parse(text, text + header_bytes, nullptr, false);
  if (!header.is_object()) fail("is not a safetensors file: its header is not a JSON object");
  const std::span<const std::byte> data = std::span(file.bytes_).subspan(sizeof header_bytes + header_bytes);
  try {
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") {
        file.metadata_ = entry.get<std::map<std::string, std::string>>();
        continue;
      }
      SafeTensor tensor{entry.at("dtype"), entry.at("shape"), {}};
      const auto offsets = entry.at("data_offsets").get<std::vector<uint64_t>>();
      uint64_t bytes = static_cast<uint64_t>(dtype_bytes(tensor.dtype));
      if (bytes == 0) fail(fmt::format("tensor '{}' has the unknown dtype {}", name, tensor.dtype));
      for (int64_t dim : tensor.shape) {
        if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes)) bytes = UINT64_MAX;
      }
      if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data.size() ||
          offsets[1] - offsets[0] != bytes) {
        fail(fmt::format("tensor '{}': its data offsets do not fit its shape or the file", name));
      }
      tensor.data = data.subspan(offsets[0], bytes);
      file.tensors_.emplace(name, std::move(tensor));
    }
  } catch (const json::exception& error) {
    fail(fmt::format("its header is malformed: {}", error.what()));
  }
  return file;
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
