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
#include <utility>
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

// An open file of which the header alone is in memory: what is wanted of an array is read when it is wanted.
class SafeTensorsReader {
 public:
  struct Array {
    std::string dtype;
    std::vector<int64_t> shape;
    uint64_t offset_bytes, bytes;  // in the file
  };

  // Throws an Error that names the file and what is wrong with it.
  explicit SafeTensorsReader(const std::string& path);
  SafeTensorsReader(SafeTensorsReader&& other) noexcept;
  SafeTensorsReader& operator=(SafeTensorsReader&&) = delete;
  ~SafeTensorsReader();

  const std::string& path() const { return path_; }
  const std::map<std::string, Array>& arrays() const { return arrays_; }

  // The bytes of an array from `begin` on, as many as `to` has. An Error where the file has been cut off meanwhile.
  void read(const Array& array, uint64_t begin, std::span<std::byte> to) const;

 private:
  SafeTensorsReader(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_ = -1;
  std::map<std::string, Array> arrays_;
};

// Writes a file of these arrays, beside `path` and renamed over it.
void write_safetensors(const std::string& path, const std::map<std::string, SafeTensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace ingot
