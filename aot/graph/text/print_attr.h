// Writes what stands inside ops: types, attributes, literals, locations.
// Each appends to `out` what text_reader.h reads.
#pragma once

#include <map>
#include <span>

#include "aot/graph/attr.h"

namespace ingot {

void print_type(std::string& out, const TensorType& type);
void print_attr(std::string& out, const Attr& attr);
void print_attr_dict(std::string& out, const AttrMap& attrs);             // {a = 1 : i64, b}
void print_literal(std::string& out, const Literal& literal);             // dense<...> : tensor<...>
void print_symbol(std::string& out, std::string_view name);               // @name, in quotes where it must
void print_int_list(std::string& out, std::span<const int64_t> values);   // [1, 2]
void print_bool_list(std::string& out, std::span<const int64_t> values);  // [true, false]
bool are_conv_dims(const AttrMap& entries);                               // whether print_conv_dims can write them
void print_conv_dims(std::string& out, const AttrMap& entries);           // [b, f, 0]x[o, i, 0]->[b, f, 0]
void print_tagged_entries(std::string& out, const AttrMap& entries);      // a = [1], b = 2: the inside of #tag<...>

// A finite float with the fewest digits (at least seven) that read back to the same value of its dtype; hexadecimal
// bits for NaN and infinities.
void print_float(std::string& out, DType dtype, double value);

// loc(...) with everything written out, or through aliases that are collected on the way.
class LocationPrinter {
 public:
  void print(std::string& out, const Location& location);  // loc(#loc3)
  void print_definitions(std::string& out) const;          // #loc3 = loc(...), each before its first use
 private:
  std::string inner(const Location& location);
  std::map<const LocationNode*, int> known_;
  std::map<std::string, int> aliases_;  // body to number
  std::vector<std::string> bodies_;
};
void print_location(std::string& out, const Location& location);  // without aliases, at most a few levels deep

}  // namespace ingot
