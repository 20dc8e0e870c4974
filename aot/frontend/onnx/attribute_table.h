// Which attributes the ops of ONNX have, in which versions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ingot::onnx {

// AttributeProto.AttributeType, as far as an op of the table has one.
enum class AttributeKind : uint8_t {
  kFloat = 1,
  kInteger = 2,
  kText = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kIntegers = 7,
  kTexts = 8,
  kSparseTensor = 11,
  kType = 13,
};

struct AttributeRow {
  std::string_view domain, op, name;
  AttributeKind kind;
  int64_t first, last;  // versions of the domain
  bool is_hint;         // it cannot change the result
};

std::span<const AttributeRow> attribute_table();

// The row for an attribute of an op of a version of its domain; null when there is none.
const AttributeRow* find_attribute(std::string_view domain, std::string_view op, std::string_view name,
                                   int64_t version);

// "an integer", "a list of floats"; of any number that a file may have.
std::string_view kind_name(int64_t kind);

}  // namespace ingot::onnx
