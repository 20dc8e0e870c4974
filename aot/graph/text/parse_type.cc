// Types: tensor<2x?xf32>, tensor<2x?xf32, #stablehlo.bounds<?, 4>>,
// tensor<2x!quant.uniform<i8:f32, 0.1:-30>>, !stablehlo.token.
#include <fmt/format.h>

#include "aot/graph/quantization.h"
#include "aot/graph/text/text_reader.h"

namespace ingot {
namespace {

constexpr std::string_view kTokenType = "!stablehlo.token";
constexpr size_t kHighestRank = 64;
constexpr int64_t kLargestTensorBytes = int64_t{1} << 46;  // 64 TiB: offsets never overflow

bool is_word_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// The type at the next token as it is written, for a message.
std::string_view written_type(TextReader& reader) {
  const size_t start = reader.offset();
  if (reader.at('(')) {
    reader.skip_group();
  } else {
    reader.take();
    if (reader.at('<')) reader.skip_group();
  }
  return reader.text_since(start);
}

[[noreturn]] void fail_unsupported(TextReader& reader, size_t start) {
  reader.seek(start);
  const Location location = reader.location();
  throw_limit(location, fmt::format("type {} is not supported yet; tensors are, of i1, i2 .. i64, ui2 .. ui64, f4 .. "
                                    "f8, f16, bf16, f32, f64, complex<f32>, complex<f64> and !quant.uniform",
                                    written_type(reader)));
}

// A tensor of at most kLargestTensorBytes, also when a dimension is zero (then: without it).
bool is_too_large(const TensorType& type) {
  __extension__ using Wide = unsigned __int128;
  Wide bytes = info(type.dtype).bytes;
  for (const int64_t dim : type.shape) {
    if (dim > 1) bytes *= static_cast<uint64_t>(dim);
    if (bytes > Wide{static_cast<uint64_t>(kLargestTensorBytes)}) return true;
  }
  return false;
}

// <4, ?> after `#stablehlo.bounds`: one for each dimension.
Shape parse_bounds(TextReader& reader, const Shape& shape) {
  const Token name = reader.expect(TokenKind::kHash, "#stablehlo.bounds<...>");
  if (name.text != "#stablehlo.bounds") {
    throw_limit(reader.source().location(name.text),
                fmt::format("the encoding {} of a tensor is not supported; #stablehlo.bounds<...> is", name.text));
  }
  Shape bounds;
  reader.expect('<');
  do {
    bounds.push_back(reader.accept('?') ? kUnknownDim : reader.expect_integer("a bound or '?'"));
  } while (reader.accept(','));
  reader.expect('>');
  bool fits = bounds.size() == shape.size();
  for (size_t d = 0; fits && d < bounds.size(); ++d) {
    fits = bounds[d] == kUnknownDim || (shape[d] == kUnknownDim && bounds[d] >= 0);
  }
  if (!fits) reader.fail_at(name.text, "bounds give one number for each dimension that is '?' in the shape, else '?'");
  return bounds;
}

// The element type !quant.uniform<...>, or an alias of one, of a tensor whose shape is known.
void parse_quantized_element(TextReader& reader, TensorType& type) {
  const Token written = reader.token();
  type.quantization = reader.is_alias(written.text) ? reader.type_alias().quantization : parse_quantization(reader);
  if (!type.quantization) reader.fail_at(written.text, fmt::format("{} is no element type", written.text));
  type.dtype = type.quantization->expressed;
  if (const std::string misfit = scales_misfit(type); !misfit.empty()) reader.fail_at(written.text, misfit);
}

// The shape is not made of tokens ("2x3xf32" is an integer and an identifier, "0x3xf32" a hexadecimal integer), so it
// is read by character.
class TensorReader {
 public:
  // Behind `tensor`, before '<'; `start` is where the type begins.
  TensorReader(TextReader& reader, size_t start)
      : reader_(reader), text_(reader.source().text()), start_(start), at_(reader.offset() + 1) {}

  TensorType read() {
    TensorType type;
    while (dimension(type.shape)) {
    }
    if (peek() == '!') {
      reader_.seek(at_);
      parse_quantized_element(reader_, type);
    } else {
      type.dtype = element();
      reader_.seek(at_);
    }
    if (reader_.accept(',')) type.bounds = parse_bounds(reader_, type.shape);
    reader_.expect('>');
    if (is_too_large(type)) {
      throw_limit(reader_.source().location(start_), fmt::format("{} is larger than 64 TiB", to_string(type)));
    }
    return type;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r') ++at_;
  }

  // `4x` or `?x`, if there is one.
  bool dimension(Shape& shape) {
    skip_space();
    const size_t start = at_;
    if (peek() == '?') {
      shape.push_back(kUnknownDim);
      ++at_;
    } else {
      if (peek() < '0' || peek() > '9') return false;
      while (peek() >= '0' && peek() <= '9') ++at_;
      const std::string_view digits = text_.substr(start, at_ - start);
      const auto extent = integer_value(digits);
      if (!extent || *extent > INT64_MAX) reader_.fail_at(digits, "the dimension does not fit 64 bits");
      shape.push_back(static_cast<int64_t>(*extent));
    }
    if (peek() != 'x') reader_.fail_at(text_.substr(at_, 0), "expected 'x' after a dimension, as in tensor<2x3xf32>");
    ++at_;
    if (shape.size() > kHighestRank) {
      throw_limit(reader_.source().location(start), "a tensor has at most 64 dimensions");
    }
    return true;
  }

  // f32 or complex<f32>, up to what follows it.
  DType element() {
    const size_t start = at_;
    while (is_word_char(peek())) ++at_;
    if (text_.substr(start, at_ - start) == "complex" && peek() == '<') {
      at_ = text_.find('>', at_);
      if (at_ == text_.npos) fail_unsupported(reader_, start_);
      ++at_;
    }
    const std::string_view name = text_.substr(start, at_ - start);
    const auto dtype = name == "index" ? DType::kI64 : dtype_from_name(name);
    skip_space();
    if (!dtype || (peek() != '>' && peek() != ',')) fail_unsupported(reader_, start_);
    return *dtype;
  }

  TextReader& reader_;
  const std::string_view text_;
  const size_t start_;
  size_t at_;
};

}  // namespace

TensorType parse_type(TextReader& reader) {
  if (reader.at(TokenKind::kBang) && reader.is_alias(reader.token().text)) return reader.type_alias();
  const size_t start = reader.offset();
  if (reader.at(TokenKind::kBang) && reader.token().text == kTokenType) {
    reader.take();
    return {DType::kToken, {0}};  // no elements
  }
  if (!reader.at_word("tensor")) {
    const bool is_type = reader.at(TokenKind::kIdentifier) || reader.at(TokenKind::kBang) || reader.at('(');
    if (!is_type) reader.fail_expected("a type like tensor<2x3xf32>");
    fail_unsupported(reader, start);
  }
  reader.take();
  if (!reader.at('<')) reader.fail_expected("'<'");
  return TensorReader(reader, start).read();
}

}  // namespace ingot
