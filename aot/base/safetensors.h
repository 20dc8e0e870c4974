// safetensors files: named arrays with a JSON header, as Hugging Face and PyTorch read and write them.
//
//   u64 header bytes (little endian) · {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...}
//   · data
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace ingot {

// One array of an open file.
struct SafeTensor {
  std::string dtype;  // "F32", "I64", "BOOL", ...
  std::vector<int64_t> shape;
  std::span<const std::byte> data;  // row-major, little endian; stays as long as the file object
};

// A file read into memory, its header checked: ranges within the file that match dtype and shape.
class SafeTensors {
 public:
  // Throws an Error that names the file and what is wrong with it.
  static SafeTensors read(const std::string& path);

  const std::map<std::string, SafeTensor>& tensors() const { return tensors_; }
  const SafeTensor* find(const std::string& name) const;  // null when there is none
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  std::vector<std::byte> bytes_;
  std::map<std::string, SafeTensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

// Writes a file of these arrays, beside `path` and renamed over it.
void write_safetensors(const std::string& path, const std::map<std::string, SafeTensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace ingot
