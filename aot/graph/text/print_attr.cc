#include "aot/graph/text/print_attr.h"

#include <fmt/format.h>

#include <cmath>

#include "aot/base/lexer.h"
#include "aot/graph/float_bits.h"

namespace ingot {
namespace {

constexpr int64_t kMostWrittenElements = 100;  // MLIR's limit too: larger literals are in hexadecimal

void print_name(std::string& out, std::string_view name) {
  out += is_bare_name(name) ? std::string(name) : quoted(name);
}

template <typename List, typename Print>
void print_list(std::string& out, const List& list, Print print) {
  bool first = true;
  for (const auto& item : list) {
    if (!first) out += ", ";
    first = false;
    print(item);
  }
}

void print_float_at(std::string& out, DType dtype, const std::byte* from) {
  const double value = load_float(dtype, from);
  if (std::isnan(value)) {  // with its payload
    out += "0x";
    for (int i = info(dtype).bytes; i-- > 0;) out += fmt::format("{:02X}", static_cast<int>(from[i]));
  } else {
    print_float(out, dtype, value);
  }
}

void print_element(std::string& out, const Literal& literal, int64_t index) {
  const DType dtype = literal.type.dtype;
  const std::byte* from = literal.data.data() + (literal.is_splat ? 0 : index * info(dtype).bytes);
  if (is_float(dtype)) {
    print_float_at(out, dtype, from);
  } else if (is_complex(dtype)) {
    const DType part = part_of(dtype);
    out += '(';
    print_float_at(out, part, from);
    out += ',';
    print_float_at(out, part, from + info(part).bytes);
    out += ')';
  } else if (is_bool(dtype)) {
    out += literal.int_at(index) ? "true" : "false";
  } else if (is_unsigned(dtype)) {
    out += std::to_string(static_cast<uint64_t>(literal.int_at(index)));
  } else {
    out += std::to_string(literal.int_at(index));
  }
}

void print_elements(std::string& out, const Literal& literal, int axis, int64_t& index) {
  if (axis == literal.type.rank()) return print_element(out, literal, index++);
  out += '[';
  for (int64_t i = 0; i < literal.type.shape[axis]; ++i) {
    if (i) out += ", ";
    print_elements(out, literal, axis + 1, index);
  }
  out += ']';
}

void print_hex(std::string& out, const Literal& literal) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  out += "\"0x";
  const auto print_byte = [&](uint8_t byte) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  };
  if (is_bool(literal.type.dtype)) {
    for (size_t i = 0; i < literal.data.size(); i += 8) {
      uint8_t byte = 0;
      for (size_t bit = 0; bit < 8 && i + bit < literal.data.size(); ++bit) {
        byte |= static_cast<uint8_t>((literal.data[i + bit] != std::byte{0}) << bit);
      }
      print_byte(byte);
    }
  } else {
    for (const std::byte byte : literal.data) print_byte(static_cast<uint8_t>(byte));
  }
  out += '"';
}

struct AttrPrinter {
  std::string& out;

  void operator()(const UnitAttr&) const { out += "unit"; }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(const IntAttr& a) const {
    out += is_unsigned(a.dtype) ? std::to_string(static_cast<uint64_t>(a.value)) : std::to_string(a.value);
    out += " : " + to_string(a.dtype);
  }
  void operator()(const FloatAttr& a) const {
    print_float(out, a.dtype, a.value);
    out += " : " + to_string(a.dtype);
  }
  void operator()(const std::string& text) const { out += ingot::quoted(text); }
  void operator()(const SymbolAttr& a) const { print_symbol(out, a.name); }
  void operator()(const EnumAttr& a) const {
    const size_t dot = a.kind.rfind('.');
    const std::string dialect = dot == a.kind.npos ? "stablehlo" : a.kind.substr(0, dot);
    out += fmt::format("#{}<{} {}>", dialect, dot == a.kind.npos ? a.kind : a.kind.substr(dot + 1), a.value);
  }
  void operator()(const TensorType& type) const { print_type(out, type); }
  void operator()(const IntsAttr& a) const {
    out += "array<" + to_string(a.dtype);
    if (!a.values.empty()) out += ": ";
    print_list(out, a.values, [&](int64_t value) {
      out += is_bool(a.dtype)       ? std::string(value ? "true" : "false")
             : is_unsigned(a.dtype) ? std::to_string(static_cast<uint64_t>(value))
                                    : std::to_string(value);
    });
    out += '>';
  }
  void operator()(const LiteralRef& literal) const { print_literal(out, *literal); }
  void operator()(const std::vector<Attr>& items) const {
    out += '[';
    print_list(out, items, [&](const Attr& item) { print_attr(out, item); });
    out += ']';
  }
  void operator()(const DictAttr& dict) const {
    if (dict.tag.empty()) {
      print_attr_dict(out, dict.entries);
    } else {
      out += '#' + dict.tag + '<';
      if (dict.tag == "stablehlo.conv" && are_conv_dims(dict.entries)) {
        print_conv_dims(out, dict.entries);
      } else {
        print_tagged_entries(out, dict.entries);
      }
      out += '>';
    }
  }
  void operator()(const OpaqueAttr& a) const { out += a.text; }
};

}  // namespace

void print_type(std::string& out, const TensorType& type) { out += to_string(type); }

void print_attr(std::string& out, const Attr& attr) { std::visit(AttrPrinter{out}, attr.value); }

void print_attr_dict(std::string& out, const AttrMap& attrs) {
  out += '{';
  print_list(out, attrs, [&](const auto& entry) {
    print_name(out, entry.first);
    if (entry.second.template as<UnitAttr>()) return;
    out += " = ";
    print_attr(out, entry.second);
  });
  out += '}';
}

// Lists and integers of i64 are plain, and empty lists are left out.
void print_tagged_entries(std::string& out, const AttrMap& entries) {
  bool first = true;
  for (const auto& [name, value] : entries) {
    const auto* ints = value.as<IntsAttr>();
    const auto* integer = value.as<IntAttr>();
    const bool is_list = ints && ints->dtype == DType::kI64;
    if (is_list && ints->values.empty()) continue;
    if (!first) out += ", ";
    first = false;
    print_name(out, name);
    if (value.as<UnitAttr>()) continue;
    out += " = ";
    if (is_list) {
      print_int_list(out, ints->values);
    } else if (integer && integer->dtype == DType::kI64) {
      out += std::to_string(integer->value);
    } else {
      print_attr(out, value);
    }
  }
}

void print_literal(std::string& out, const Literal& literal) {
  out += "dense<";
  if (literal.is_splat) {
    print_element(out, literal, 0);
  } else if (literal.type.elements() > kMostWrittenElements) {
    print_hex(out, literal);
  } else if (literal.type.elements() > 0) {
    int64_t index = 0;
    print_elements(out, literal, 0, index);
  }
  out += "> : ";
  print_type(out, literal.type);
}

void print_symbol(std::string& out, std::string_view name) {
  out += '@';
  print_name(out, name);
}

void print_int_list(std::string& out, std::span<const int64_t> values) {
  out += '[';
  print_list(out, values, [&](int64_t value) { out += fmt::format("{}", value); });
  out += ']';
}

void print_bool_list(std::string& out, std::span<const int64_t> values) {
  out += '[';
  print_list(out, values, [&](int64_t value) { out += value ? "true" : "false"; });
  out += ']';
}

void print_float(std::string& out, DType dtype, double value) {
  if (!std::isfinite(value)) {
    out += fmt::format("0x{:0{}X}", float_bits(dtype, value), info(dtype).bytes * 2);
    return;
  }
  std::string text;
  for (int digits = 6; digits <= 17; ++digits) {
    text = fmt::format("{:.{}e}", value, digits);
    if (round_to(dtype, float_value(text[0] == '-' ? std::string_view(text).substr(1) : text)) == std::abs(value))
      break;
  }
  out += text;
}

}  // namespace ingot
