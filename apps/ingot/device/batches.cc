#include "apps/ingot/device/batches.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/base/error.h"
#include "apps/ingot/files/file_format.h"
#include "apps/ingot/files/stored_array.h"
#include "apps/ingot/terminal/names.h"

namespace ingot {
namespace {

using Array = SafeTensorsReader::Array;

bool has_suffix(const std::string& name, const std::string& suffix) {
  return name.size() > suffix.size() && name.ends_with(suffix) && name[name.size() - suffix.size() - 1] == '.';
}

// By its whole name, or by a dotted suffix.
bool is_of(const std::string& array, const std::string& input) {
  return array == input || has_suffix(array, input) || has_suffix(input, array);
}

const std::pair<const std::string, Array>* find_array(const SafeTensorsReader& reader, const std::string& input) {
  if (const auto found = reader.arrays().find(input); found != reader.arrays().end()) return &*found;
  for (const auto& array : reader.arrays()) {
    if (is_of(array.first, input)) return &array;
  }
  return nullptr;
}

SafeTensorsReader open_data(const std::string& path) {
  refuse_other_formats(path, Wanted::kTensors);
  return SafeTensorsReader(path);
}

}  // namespace

Batches::Column Batches::column(const SafeTensorsReader& reader, const std::vector<ingot_tensor_info>& inputs, size_t i,
                                InputSource source, bool cast) const {
  const ingot_tensor_info& input = inputs[i];
  if (source == InputSource::kUser) return {};
  const auto* found = find_array(reader, input.name);
  if (!found && source == InputSource::kDefault) return {};
  if (!found) {
    std::vector<std::string> names;
    for (const auto& array : reader.arrays()) names.push_back(array.first);
    throw_error(nullptr, fmt::format("{}: has no tensor for the input {}; give it there, or a scalar by --set {}=...{}",
                                     reader.path(), to_string(input), input.name,
                                     suggestion(names, input.name, names_of(inputs))));
  }
  const auto& [key, array] = *found;
  const std::string name = fmt::format("{}: '{}'", reader.path(), key);
  StoredType row = stored_as_safetensors(array.dtype, array.shape);
  const bool has_rows = !array.shape.empty();
  if (has_rows) row.shape.erase(row.shape.begin());
  const std::string wanted =
      fmt::format("rows for the input {} are wanted (the first dimension is the step)", to_string(input));
  const std::string why = has_rows ? mismatch(row, input, cast, wanted) : "is a scalar, but " + wanted;
  if (!why.empty()) throw_error(nullptr, fmt::format("{} {}", name, why));
  if (array.shape[0] == 0) throw_error(nullptr, fmt::format("{} has no steps: its first dimension is 0", name));
  return {&array, *row.dtype, graph_dtype(input.dtype), array.bytes / static_cast<uint64_t>(array.shape[0]), name};
}

Batches::Batches(const std::vector<std::string>& paths, const std::vector<ingot_tensor_info>& inputs,
                 const std::vector<InputSource>& sources, bool cast) {
  files_.reserve(paths.size());
  for (const std::string& path : paths) {
    File& file = files_.emplace_back(File{open_data(path), {}});
    for (const auto& array : file.reader.arrays()) names_.insert(array.first);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Column& column = file.columns.emplace_back(this->column(file.reader, inputs, i, sources[i], cast));
      if (!column.array) continue;
      const int64_t count = column.array->shape[0];
      if (file.count != 0 && count != file.count) {
        throw_error(nullptr, fmt::format("{} has {} steps, other inputs have {}", column.name, count, file.count));
      }
      file.count = count;
    }
    count_ += file.count;
  }
  if (count_ == 0) {  // every input has its value from elsewhere
    files_.clear();
    count_ = 1;
  }
}

std::vector<std::string> Batches::of_none(const std::vector<ingot_tensor_info>& inputs) const {
  std::vector<std::string> found;
  for (const std::string& name : names_) {
    if (std::ranges::none_of(inputs, [&](const auto& input) { return is_of(name, input.name); })) found.push_back(name);
  }
  return found;
}

void Batches::fill(int64_t step, std::span<const std::span<std::byte>> inputs) const {
  int64_t row = step % count_;
  for (const File& file : files_) {
    if (row >= file.count) {
      row -= file.count;
      continue;
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Column& column = file.columns[i];
      if (!column.array) continue;
      const uint64_t begin = static_cast<uint64_t>(row) * column.row_bytes;
      if (column.row_bytes == inputs[i].size() && column.from == column.to) {
        file.reader.read(*column.array, begin, inputs[i]);
        continue;
      }
      std::vector<std::byte> stored(column.row_bytes);
      file.reader.read(*column.array, begin, stored);
      copy_elements(column.from, stored, column.to, inputs[i], fmt::format("{}, step {}", column.name, row));
    }
    return;
  }
}

}  // namespace ingot
