// Attributes. What is not understood is kept as it was written (OpaqueAttr), as long as its brackets match.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "aot/graph/float_bits.h"
#include "aot/graph/text/text_reader.h"

namespace ingot {
namespace {

// StableHLO prints only what differs from the default; readers want every field.
struct TaggedDefaults {
  std::string_view tag;
  std::array<std::string_view, 5> lists;  // default: empty
  std::string_view integer;               // default: 0
};
constexpr TaggedDefaults kTaggedDefaults[] = {
    {"stablehlo.dot",
     {"lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions", "rhs_contracting_dimensions"},
     ""},
    {"stablehlo.gather",
     {"offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims", "start_index_map"},
     "index_vector_dim"},
    {"stablehlo.scatter",
     {"update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims",
      "scatter_dims_to_operand_dims"},
     "index_vector_dim"},
};

void add_defaults(DictAttr& dict) {
  for (const TaggedDefaults& row : kTaggedDefaults) {
    if (row.tag != dict.tag) continue;
    for (const std::string_view list : row.lists) {
      if (!list.empty()) dict.entries.try_emplace(std::string(list), IntsAttr{});
    }
    if (!row.integer.empty()) dict.entries.try_emplace(std::string(row.integer), IntAttr{});
  }
}

// A list of plain integers, as in #stablehlo.dot<lhs_batching_dimensions = [0]>.
void make_int_list(Attr& attr) {
  const auto* list = attr.as<std::vector<Attr>>();
  if (!list) return;
  IntsAttr ints;
  for (const Attr& item : *list) {
    const auto* integer = item.as<IntAttr>();
    if (!integer || integer->dtype != DType::kI64) return;
    ints.values.push_back(integer->value);
  }
  attr = std::move(ints);
}

// One word and the brackets that belong to it: `affine_map<...>`, `i32`, `!a.b<c>`,
// `(tensor<f32>) -> tensor<f32>`, `@a::@b`.
OpaqueAttr parse_opaque(TextReader& reader) {
  const size_t start = reader.offset();
  while (true) {
    if (reader.at('(')) {
      reader.skip_group();
    } else {
      reader.take();
      if (reader.at('<')) reader.skip_group();
    }
    if (reader.at(':') && reader.text_since(start)[0] == '@') {
      reader.take();
      reader.expect(':');
    } else if (!reader.accept(TokenKind::kArrow)) {
      break;
    }
  }
  return {std::string(reader.text_since(start))};
}

bool is_type_word(std::string_view word) {
  static constexpr std::string_view kPrefixes[] = {
      "index",    "none", "vector", "memref", "complex", "tuple", "affine_map", "affine_set", "strided",
      "distinct", "bf16", "tf32",   "f",      "i",       "si",    "ui",         "opaque"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes), [&](std::string_view prefix) {
    if (!word.starts_with(prefix)) return false;
    return (word.size() == prefix.size() && prefix.size() > 2) ||
           (word.size() > prefix.size() && prefix.size() <= 2 && word[prefix.size()] >= '0' &&
            word[prefix.size()] <= '9');
  });
}

// [-]integer or [-]float, with an optional `: type`.
Attr parse_number(TextReader& reader) {
  const size_t start = reader.offset();
  const bool negative = reader.accept('-');
  if (!reader.at(TokenKind::kInteger) && !reader.at(TokenKind::kFloat)) reader.fail_expected("a number");
  const Token number = reader.take();
  DType dtype = number.is(TokenKind::kFloat) ? DType::kF64 : DType::kI64;
  if (reader.accept(':')) {
    const auto written = reader.at(TokenKind::kIdentifier) ? dtype_from_name(reader.token().text) : std::nullopt;
    if (!written) {
      parse_opaque(reader);
      return OpaqueAttr{std::string(reader.text_since(start))};
    }
    reader.take();
    dtype = *written;
  }
  if (number.is(TokenKind::kFloat)) {
    if (!is_float(dtype)) reader.fail_at(number.text, "a float cannot have the type " + to_string(dtype));
    const double value = float_value(number.text);
    return FloatAttr{round_to(dtype, negative ? -value : value), dtype};
  }
  const auto value = integer_value(number.text);
  if (is_float(dtype)) {
    const bool is_bits = number.text.starts_with("0x") && !negative && value && fits_bits(*value, info(dtype).bits);
    if (!is_bits) reader.fail_at(number.text, "a float needs a decimal point, or the hexadecimal bits of its type");
    return FloatAttr{float_from_bits(dtype, *value), dtype};
  }
  const auto wrapped = value ? checked_integer(dtype, *value, negative) : std::nullopt;
  if (!wrapped) reader.fail_at(number.text, fmt::format("the integer does not fit {}", to_string(dtype)));
  if (is_bool(dtype)) return *wrapped != 0;
  return IntAttr{*wrapped, dtype};
}

// array<i64: 1, 2>, after the word `array`.
Attr parse_array(TextReader& reader, size_t start) {
  const Lexer mark = reader;
  reader.expect('<');
  const auto dtype = reader.at(TokenKind::kIdentifier) ? dtype_from_name(reader.token().text) : std::nullopt;
  if (!dtype || is_float(*dtype)) {
    static_cast<Lexer&>(reader) = mark;
    reader.skip_group();
    return OpaqueAttr{std::string(reader.text_since(start))};
  }
  reader.take();
  IntsAttr ints{{}, *dtype};
  if (reader.accept(':')) {
    do {
      const Token value = reader.token();
      if (reader.accept_word("true")) {
        ints.values.push_back(1);
      } else if (reader.accept_word("false")) {
        ints.values.push_back(0);
      } else {
        ints.values.push_back(reader.expect_integer("an integer"));
        if (ints.values.back() != wrap_to(*dtype, ints.values.back())) {
          reader.fail_at(value.text, fmt::format("the integer does not fit {}", to_string(*dtype)));
        }
      }
    } while (reader.accept(','));
  }
  reader.expect('>');
  reader.charge(static_cast<int64_t>(ints.values.size()) * 8);
  return ints;
}

// Whether it is an attribute of an op, whose fields are to be read.
bool is_of_ops(std::string_view tag) { return tag.starts_with("stablehlo.") || tag.starts_with("chlo."); }

// #stablehlo<precision DEFAULT>, #stablehlo.dot<a = [0]>, #stablehlo.conv<...>, an alias, or another dialect's.
Attr parse_hash(TextReader& reader) {
  const Token tag = reader.token();
  if (reader.is_alias(tag.text)) return reader.attr_alias();
  const size_t start = reader.offset();
  reader.take();
  if (!reader.at('<')) {
    if (tag.text.find('.') == tag.text.npos)
      reader.fail_at(tag.text, fmt::format("{} is not defined in this text", tag.text));
    return OpaqueAttr{std::string(tag.text)};
  }
  const Lexer mark = reader;
  reader.take();
  if (tag.name() == "stablehlo.conv" && reader.at('[')) {
    DictAttr dims = parse_conv_dims(reader);
    reader.expect('>');
    return dims;
  }
  if (reader.at(TokenKind::kIdentifier)) {
    const Token first = reader.take();
    if (reader.at(TokenKind::kIdentifier)) {
      const Token second = reader.take();
      if (reader.accept('>')) {
        const std::string prefix = tag.name() == "stablehlo" ? "" : std::string(tag.name()) + ".";
        return EnumAttr{prefix + std::string(first.text), std::string(second.text)};
      }
    } else if (reader.at('=') && is_of_ops(tag.name())) {
      static_cast<Lexer&>(reader) = mark;
      reader.take();
      DictAttr dict{std::string(tag.name()), {}};
      parse_attr_entries(reader, '>', dict.entries);
      for (auto& [name, value] : dict.entries) make_int_list(value);
      add_defaults(dict);
      return dict;
    }
  } else if (reader.at('>') && is_of_ops(tag.name())) {
    reader.take();
    DictAttr dict{std::string(tag.name()), {}};
    add_defaults(dict);
    return dict;
  }
  static_cast<Lexer&>(reader) = mark;
  reader.skip_group();
  return OpaqueAttr{std::string(reader.text_since(start))};
}

Attr parse_list(TextReader& reader) {
  std::vector<Attr> items;
  reader.expect('[');
  while (!reader.at(']')) {
    items.push_back(parse_attr(reader));
    if (!reader.accept(',')) break;
  }
  reader.expect(']');
  return items;
}

Attr parse_word(TextReader& reader) {
  const std::string_view word = reader.token().text;
  if (word == "true" || word == "false") return reader.take().text == "true";
  if (word == "unit") return reader.take(), UnitAttr{};
  if (word == "dense") return parse_literal(reader);
  if (word == "array") {
    const size_t start = reader.offset();
    reader.take();
    return parse_array(reader, start);
  }
  if (word == "loc") {
    const size_t start = reader.offset();
    reader.take();
    if (reader.at('(')) reader.skip_group();
    return OpaqueAttr{std::string(reader.text_since(start))};
  }
  if (word == "dense_resource" || word == "sparse") {
    throw_limit(reader.location(), fmt::format("{}<...> is not supported yet; dense<...> is", word));
  }
  if (word == "tensor") {
    const Lexer mark = reader;
    try {
      return parse_type(reader);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kLimit) throw;
      static_cast<Lexer&>(reader) = mark;  // of no use to us, but only an attribute
      return parse_opaque(reader);
    }
  }
  if (is_type_word(word)) return parse_opaque(reader);
  reader.fail_expected("an attribute");
}

}  // namespace

Attr parse_attr(TextReader& reader) {
  const TextReader::Nesting nesting(reader);
  reader.charge(static_cast<int64_t>(sizeof(Attr) + reader.token().text.size()));
  switch (reader.token().kind) {
    case TokenKind::kString:
      return reader.expect_string("a string");
    case TokenKind::kInteger:
    case TokenKind::kFloat:
      return parse_number(reader);
    case TokenKind::kHash:
      return parse_hash(reader);
    case TokenKind::kBang:
      if (reader.is_alias(reader.token().text)) return reader.type_alias();
      return parse_opaque(reader);
    case TokenKind::kIdentifier:
      return parse_word(reader);
    case TokenKind::kSymbol: {
      const Lexer mark = reader;
      SymbolAttr symbol{reader.expect_symbol()};
      if (!reader.at(':')) return symbol;
      static_cast<Lexer&>(reader) = mark;
      return parse_opaque(reader);
    }
    default:
      break;
  }
  if (reader.at('-')) return parse_number(reader);
  if (reader.at('[')) return parse_list(reader);
  if (reader.at('(')) return parse_opaque(reader);
  if (reader.at('{')) return DictAttr{"", parse_attr_dict(reader)};
  reader.fail_expected("an attribute");
}

void parse_attr_entries(TextReader& reader, char close, AttrMap& into) {
  while (!reader.at(close)) {
    const Token written = reader.token();
    std::string name = parse_name(reader);
    Attr value = UnitAttr{};
    if (reader.accept('=')) value = parse_attr(reader);
    if (!into.emplace(std::move(name), std::move(value)).second) {
      reader.fail_at(written.text, fmt::format("attribute {} is given twice", written.text));
    }
    if (!reader.accept(',')) break;
  }
  reader.expect(close);
}

AttrMap parse_attr_dict(TextReader& reader) {
  AttrMap attrs;
  reader.expect('{');
  parse_attr_entries(reader, '}', attrs);
  return attrs;
}

}  // namespace ingot
