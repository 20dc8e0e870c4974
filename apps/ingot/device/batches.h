// The data of a training: safetensors files, of which a step's rows are read when it comes.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "aot/base/safetensors.h"
#include "apps/ingot/device/tensor_files.h"

namespace ingot {

// The rows that data files have for the inputs of an entry point: for each input, the tensor whose name is the input's,
// or has it as a dotted suffix, or is one of it; its first dimension is the step. Of several files the second goes on
// where the first ends. An input with a default needs none, and one that the user has given takes none.
class Batches {
 public:
  Batches(const std::vector<std::string>& paths, const std::vector<ingot_tensor_info>& inputs,
          const std::vector<InputSource>& sources, bool cast = false);

  int64_t count() const { return count_; }
  std::vector<std::string> of_none(const std::vector<ingot_tensor_info>& inputs) const;  // names of tensors
  void fill(int64_t step, std::span<const std::span<std::byte>> inputs) const;           // step counts modulo count()

 private:
  // What a file has for one input; no array where it takes none.
  struct Column {
    const SafeTensorsReader::Array* array = nullptr;
    DType from = DType::kF32, to = DType::kF32;
    uint64_t row_bytes = 0;  // in the file
    std::string name;        // of the file and the array
  };
  struct File {
    SafeTensorsReader reader;
    std::vector<Column> columns;  // for each input
    int64_t count = 0;
  };

  Column column(const SafeTensorsReader& reader, const std::vector<ingot_tensor_info>& inputs, size_t i,
                InputSource source, bool cast) const;

  std::vector<File> files_;
  std::set<std::string> names_;  // of the files' tensors
  int64_t count_ = 0;
};

}  // namespace ingot
