// Literals: dense<[[1, 2], [3, 4]]>, dense<0.5>, dense<"0x...">, dense<>, each `: tensor<...>`.
#include <fmt/format.h>

#include "aot/graph/float_bits.h"
#include "aot/graph/quantization.h"
#include "aot/graph/text/text_reader.h"

namespace ingot {
namespace {

uint8_t hex_digit(char c) { return static_cast<uint8_t>(c <= '9' ? c - '0' : (c | 32) - 'a' + 10); }

// The bytes of "0x..." (the token, with its quotes).
std::vector<std::byte> decode_hex(TextReader& reader, std::string_view token) {
  std::string_view digits = token.substr(1, token.size() - 2);
  const bool is_hex = digits.starts_with("0x") && digits.size() % 2 == 0 &&
                      digits.find_first_not_of("0123456789abcdefABCDEF", 2) == digits.npos;
  if (!is_hex) reader.fail_at(token, "expected \"0x...\" with two digits a byte");
  digits.remove_prefix(2);
  std::vector<std::byte> bytes(digits.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(hex_digit(digits[2 * i]) << 4 | hex_digit(digits[2 * i + 1]));
  }
  return bytes;
}

// Truth values come eight to a byte, lowest bit first.
std::vector<std::byte> unpack_bits(const std::vector<std::byte>& packed, int64_t count) {
  std::vector<std::byte> bytes(static_cast<size_t>(count));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = packed[i / 8] >> (i % 8) & std::byte{1};
  return bytes;
}

// Raw bytes are what MLIR keeps in memory: little endian, sub-byte integers a byte each, one element for a splat.
LiteralRef from_hex(TextReader& reader, std::string_view token, const TensorType& type) {
  std::vector<std::byte> bytes = decode_hex(reader, token);
  const int64_t count = type.elements();
  const int64_t found = static_cast<int64_t>(bytes.size());
  auto literal = std::make_shared<Literal>();
  literal->type = type;
  const bool is_truth = is_bool(type.dtype);
  if (is_truth && found == 1 && (bytes[0] == std::byte{0} || bytes[0] == std::byte{0xFF})) {
    literal->data = {bytes[0] & std::byte{1}};
    literal->is_splat = true;
  } else if (is_truth && found == (count + 7) / 8) {
    literal->data = unpack_bits(bytes, count);
  } else if (found == type.bytes() || found == info(type.dtype).bytes) {
    if (info(type.dtype).bits < 8) {
      for (std::byte& byte : bytes) store_int(type.dtype, load_int(type.dtype, &byte), &byte);
    }
    literal->data = std::move(bytes);
    literal->is_splat = found != type.bytes();
  } else {
    reader.fail_at(token, fmt::format("{} has {} bytes, the text gives {}", to_string(type), type.bytes(), found));
  }
  return literal;
}

class ElementReader {
 public:
  ElementReader(TextReader& reader, const TensorType& type) : reader_(reader), type_(type) {}

  std::vector<std::byte> data;

  // The nested list at depth `axis`.
  void read_list(int axis) {
    const int64_t wanted = type_.shape[axis];
    int64_t found = 0;
    const Token open = reader_.token();
    reader_.expect('[');
    while (!reader_.at(']')) {
      axis + 1 < type_.rank() ? read_list(axis + 1) : read_element();
      ++found;
      if (!reader_.accept(',')) break;
    }
    reader_.expect(']');
    if (found != wanted) {
      reader_.fail_at(open.text,
                      fmt::format("the list has {} items, {} needs {} here", found, to_string(type_), wanted));
    }
  }

  // A complex number is a pair: (1.0, -2.0).
  void read_element() {
    const DType part = part_of(type_.dtype);
    if (part == type_.dtype) return read_number(part);
    reader_.expect('(');
    read_number(part);
    reader_.expect(',');
    read_number(part);
    reader_.expect(')');
  }

 private:
  void read_number(DType dtype) {
    const size_t at = data.size();
    data.resize(at + info(dtype).bytes);
    const bool negative = reader_.accept('-');
    const Token token = reader_.token();
    if (token.is(TokenKind::kFloat) && is_float(dtype)) {
      const double value = float_value(token.text);
      store_float(dtype, negative ? -value : value, &data[at]);
    } else if (token.is(TokenKind::kInteger)) {
      read_integer(dtype, token, negative, &data[at]);
    } else if (is_bool(dtype) && !negative && (token.is_word("true") || token.is_word("false"))) {
      data[at] = std::byte{token.text == "true"};
    } else {
      reader_.fail_expected(fmt::format("an element of {}", to_string(dtype)));
    }
    reader_.take();
  }

  void read_integer(DType dtype, const Token& token, bool negative, std::byte* to) {
    const auto value = integer_value(token.text);
    if (is_float(dtype)) {
      const bool is_bits = token.text.starts_with("0x") && !negative && value && fits_bits(*value, info(dtype).bits);
      if (!is_bits) reader_.fail("a float needs a decimal point, or the hexadecimal bits of its type");
      for (int i = 0; i < info(dtype).bytes; ++i) to[i] = static_cast<std::byte>(*value >> (8 * i));
      return;
    }
    const auto checked = value ? checked_integer(dtype, *value, negative) : std::nullopt;
    if (!checked) reader_.fail(fmt::format("the integer does not fit {}", to_string(dtype)));
    store_int(dtype, *checked, to);
  }

  TextReader& reader_;
  const TensorType& type_;
};

LiteralRef parse_body(TextReader& reader, const TensorType& type) {
  if (reader.at(TokenKind::kString)) return from_hex(reader, reader.take().text, type);
  ElementReader elements(reader, type);
  auto literal = std::make_shared<Literal>();
  literal->type = type;
  if (reader.at('>')) {
    if (type.elements() != 0)
      reader.fail(fmt::format("dense<> is for tensors without elements, not {}", to_string(type)));
  } else if (reader.at('[')) {
    if (type.rank() == 0) reader.fail(fmt::format("a list cannot be a {}", to_string(type)));
    elements.read_list(0);
  } else {
    elements.read_element();
    literal->is_splat = true;
  }
  literal->data = std::move(elements.data);
  return literal;
}

}  // namespace

// The type stands behind the elements, so they are skipped first and read when it is known. Of a quantized type the
// elements are its integers, and the literal is theirs.
LiteralRef parse_literal(TextReader& reader, TensorType* written) {
  reader.expect_word("dense");
  const Lexer body = reader;
  if (!reader.at('<')) reader.fail_expected("'<'");
  reader.skip_group();
  reader.expect(':');
  const Token type_token = reader.token();
  TensorType type = parse_type(reader);
  if (written) *written = type;
  if (type.quantization) type = storage_type(type);
  if (!type.is_static() || is_token(type.dtype)) {
    reader.fail_at(type_token.text, fmt::format("a constant cannot be a {}", to_string(type)));
  }
  const Lexer after = reader;
  static_cast<Lexer&>(reader) = body;
  reader.take();
  LiteralRef literal = parse_body(reader, type);
  reader.expect('>');
  static_cast<Lexer&>(reader) = after;
  return literal;
}

}  // namespace ingot
