// What things of a program are called in sources of C and C++.
#pragma once

#include <initializer_list>
#include <set>
#include <string>

#include "schema/dtype.h"

namespace ingot {

// The types of an element in C++ and in C; of one that they lack, a type that has the bits.
struct ElementType {
  ingot_dtype dtype;
  const char* cpp;
  const char* c;
  uint64_t c_bytes;  // of the C type, which may be a part of an element
};
const ElementType& element_type(ingot_dtype dtype);

std::string capitals(std::string text);

// `text` as an identifier of C and C++.
std::string identifier(const std::string& text);

// Names that differ from each other and from C++'s own: what is taken already is numbered.
class NameScope {
 public:
  explicit NameScope(std::initializer_list<std::string> taken);
  std::string add(const std::string& wanted);

 private:
  std::set<std::string> taken_;
};

}  // namespace ingot
