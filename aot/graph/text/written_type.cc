#include "aot/graph/text/written_type.h"

#include <algorithm>

namespace ingot {
namespace {

void append_tensors(const WrittenType& type, std::vector<TensorType>& tensors) {
  if (!type.is_tuple) tensors.push_back(type.tensor);
  for (const WrittenType& element : type.elements) append_tensors(element, tensors);
}

}  // namespace

WrittenType parse_written_type(TextReader& reader) {
  if (!reader.accept_word("tuple")) return {.tensor = parse_type(reader), .is_tuple = false, .elements = {}};
  const TextReader::Nesting nesting(reader);
  WrittenType type;
  type.is_tuple = true;
  reader.expect('<');
  while (!reader.at('>')) {
    type.elements.push_back(parse_written_type(reader));
    if (!reader.accept(',')) break;
  }
  reader.expect('>');
  return type;
}

std::vector<TensorType> tensors_of(const WrittenType& type) { return tensors_of(std::span(&type, 1)); }

std::vector<TensorType> tensors_of(std::span<const WrittenType> types) {
  std::vector<TensorType> tensors;
  for (const WrittenType& type : types) append_tensors(type, tensors);
  return tensors;
}

bool has_tuple(std::span<const WrittenType> types) { return std::ranges::any_of(types, &WrittenType::is_tuple); }

}  // namespace ingot
