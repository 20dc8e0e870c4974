// Attributes: the constant parameters of ops, functions and modules.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "aot/base/location.h"
#include "aot/graph/attributes.h"
#include "aot/graph/literal.h"

namespace ingot {

struct Attr;
// Sorted by name, so that printing is deterministic.
using AttrMap = std::map<std::string, Attr, std::less<>>;

struct UnitAttr {  // present, without a value: `foo`
  bool operator==(const UnitAttr&) const = default;
};
struct IntAttr {  // `4 : i64`
  int64_t value = 0;
  DType dtype = DType::kI64;
  bool operator==(const IntAttr&) const = default;
};
struct FloatAttr {  // `1.0e-5 : f32`
  double value = 0;
  DType dtype = DType::kF64;
  bool operator==(const FloatAttr&) const = default;
};
struct SymbolAttr {  // `@name`
  std::string name;
  bool operator==(const SymbolAttr&) const = default;
};
struct EnumAttr {  // `#stablehlo<precision DEFAULT>`: kind "precision", value "DEFAULT"
  std::string kind;
  std::string value;
  bool operator==(const EnumAttr&) const = default;
};
struct IntsAttr {  // `array<i64: 1, 2>`; dtype i1 for `array<i1: true>`
  std::vector<int64_t> values;
  DType dtype = DType::kI64;
  bool operator==(const IntsAttr&) const = default;
};
struct DictAttr {  // `{a = 1}`, or with a tag `#stablehlo.dot<a = [1]>`: tag "stablehlo.dot"
  std::string tag;
  AttrMap entries;
};
struct OpaqueAttr {  // what we do not understand, kept as it was written
  std::string text;
  bool operator==(const OpaqueAttr&) const = default;
};

// What is out of line is a table over all kinds, which no user should have to compile.
struct Attr {
  std::variant<UnitAttr, bool, IntAttr, FloatAttr, std::string, SymbolAttr, EnumAttr, TensorType, IntsAttr, LiteralRef,
               std::vector<Attr>, DictAttr, OpaqueAttr>
      value;

  Attr();
  Attr(const Attr&);
  Attr(Attr&&) noexcept;
  Attr& operator=(const Attr&);
  Attr& operator=(Attr&&) noexcept;
  ~Attr();

  template <typename T>  // T is a kind above
  Attr(T v);             // NOLINT: attributes are written as plain values
  Attr(const char* text);
  Attr(std::vector<int64_t> ints);

  template <typename T>
  const T* as() const {
    return std::get_if<T>(&value);
  }

  friend bool operator==(const Attr& a, const Attr& b);  // hidden: what merely converts to Attr is not compared as one
};
bool operator==(const DictAttr& a, const DictAttr& b);

// The string that attributes have under `key`: an argument's or a result's attributes::kState,
// attributes::kName; or "".
std::string attr_text(const AttrMap& attrs, std::string_view key);

// A read-only view of an attribute map, with errors that name the op and the attribute. A missing attribute without a
// default is an error at `location`.
class Attrs {
 public:
  Attrs(const AttrMap& map, std::string_view owner, const Location& location);

  bool has(std::string_view name) const;
  const Attr& at(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t otherwise) const;
  double number(std::string_view name) const;  // of any float type
  bool boolean(std::string_view name, bool otherwise) const;
  const std::string& string(std::string_view name) const;  // also the name of a symbol, the value of an enum
  // array<...>, dense<...> (flattened, row-major) or a list of integers.
  std::vector<int64_t> ints(std::string_view name) const;
  std::vector<int64_t> ints(std::string_view name, std::vector<int64_t> otherwise) const;
  const LiteralRef& literal(std::string_view name) const;
  Attrs dict(std::string_view name) const;  // the entries of a DictAttr

 private:
  const AttrMap& map_;
  std::string owner_;
  Location location_;
};

}  // namespace ingot
