// A type as a text says it: of a tensor, or of a tuple. Tuples are in texts alone: where one is written, the graph has
// its elements, those of inner tuples included, one after the other.
#pragma once

#include <span>
#include <vector>

#include "aot/graph/text/text_reader.h"

namespace ingot {

struct WrittenType {
  TensorType tensor;  // unless is_tuple
  bool is_tuple = false;
  std::vector<WrittenType> elements;
};

WrittenType parse_written_type(TextReader& reader);  // tensor<2xf32>, tuple<tensor<2xf32>, tuple<>>

// The tensors of which it consists, in order.
std::vector<TensorType> tensors_of(const WrittenType& type);
std::vector<TensorType> tensors_of(std::span<const WrittenType> types);

bool has_tuple(std::span<const WrittenType> types);

}  // namespace ingot
