#include "aot/base/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace ingot {
namespace {

enum CharClass : uint8_t { kSpace = 1, kDigit = 2, kLetter = 4, kHex = 8, kIdPunct = 16 };

constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> classes{};
  for (char c : {' ', '\t', '\n', '\r'}) classes[static_cast<uint8_t>(c)] = kSpace;
  for (int c = '0'; c <= '9'; ++c) classes[c] = kDigit | kHex;
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = kLetter;
  for (int c = 'A'; c <= 'Z'; ++c) classes[c] = kLetter;
  for (int c = 'a'; c <= 'f'; ++c) classes[c] |= kHex;
  for (int c = 'A'; c <= 'F'; ++c) classes[c] |= kHex;
  for (char c : {'$', '.', '_', '-'}) classes[static_cast<uint8_t>(c)] = kIdPunct;
  return classes;
}
constexpr auto kClasses = make_classes();

bool is_class(char c, int mask) { return kClasses[static_cast<uint8_t>(c)] & mask; }
bool is_identifier_char(char c) { return is_class(c, kLetter | kDigit) || c == '_' || c == '.' || c == '$'; }
bool is_identifier_start(char c) { return is_class(c, kLetter) || c == '_'; }
int hex_digit(char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }

std::string describe_token(const Token& token) {
  if (token.kind == TokenKind::kEnd) return "the end of the text";
  constexpr size_t kLongest = 40;
  if (token.text.size() <= kLongest) return fmt::format("'{}'", token.text);
  return fmt::format("'{}...'", token.text.substr(0, kLongest));
}

}  // namespace

Source::Source(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {
  line_starts_.push_back(0);
  for (size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) line_starts_.push_back(at + 1);
}

Location Source::location(size_t offset) const {
  const auto line = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset) - 1;
  return file_location(file_, static_cast<int>(line - line_starts_.begin()) + 1, static_cast<int>(offset - *line) + 1);
}

Lexer::Lexer(const Source& source, size_t begin, size_t end)
    : source_(&source), at_(begin), end_(end), last_end_(begin) {
  scan();
}

void Lexer::seek(size_t offset) {
  last_end_ = at_ = offset;
  scan();
}

Token Lexer::take() {
  const Token taken = token_;
  last_end_ = at_;
  scan();
  return taken;
}

bool Lexer::accept(char c) {
  if (!at(c)) return false;
  take();
  return true;
}

bool Lexer::accept(TokenKind kind) {
  if (!at(kind)) return false;
  take();
  return true;
}

bool Lexer::accept_word(std::string_view word) {
  if (!at_word(word)) return false;
  take();
  return true;
}

void Lexer::expect(char c) {
  if (!accept(c)) fail_expected(fmt::format("'{}'", c));
}

Token Lexer::expect(TokenKind kind, std::string_view what) {
  if (!at(kind)) fail_expected(what);
  return take();
}

void Lexer::expect_word(std::string_view word) {
  if (!accept_word(word)) fail_expected(fmt::format("'{}'", word));
}

int64_t Lexer::expect_integer(std::string_view what) {
  const bool negative = accept('-');
  const Token token = expect(TokenKind::kInteger, what);
  const auto value = integer_value(token.text);
  if (!value || (negative && *value > uint64_t{1} << 63)) fail_at(token.text, "the integer does not fit 64 bits");
  return static_cast<int64_t>(negative ? 0 - *value : *value);
}

double Lexer::expect_number(std::string_view what) {
  const bool negative = accept('-');
  if (!at(TokenKind::kInteger) && !at(TokenKind::kFloat)) fail_expected(what);
  const double value = float_value(take().text);
  return negative ? -value : value;
}

std::string Lexer::expect_string(std::string_view what) { return string_value(expect(TokenKind::kString, what).text); }

std::string Lexer::expect_symbol() {
  const Token token = expect(TokenKind::kSymbol, "a symbol like @name");
  return token.name()[0] == '"' ? string_value(token.name()) : std::string(token.name());
}

void Lexer::fail(const std::string& message) const { fail_at_offset(offset(), message); }

void Lexer::fail_expected(std::string_view what) const {
  fail(fmt::format("expected {}, found {}", what, describe_token(token_)));
}

void Lexer::fail_at(std::string_view piece, const std::string& message) const {
  throw_error(source_->location(piece), message);
}

void Lexer::fail_at_offset(size_t offset, const std::string& message) const {
  throw_error(source_->location(offset), message);
}

void Lexer::skip_blanks() {
  const char* text = source_->text().data();
  while (at_ < end_) {
    if (is_class(text[at_], kSpace)) {
      ++at_;
    } else if (text[at_] == '/' && at_ + 1 < end_ && text[at_ + 1] == '/') {
      const void* line_end = std::memchr(text + at_, '\n', end_ - at_);
      at_ = line_end ? static_cast<const char*>(line_end) - text : end_;
    } else {
      break;
    }
  }
}

void Lexer::scan() {
  skip_blanks();
  const char* text = source_->text().data();
  const size_t start = at_;
  const auto finish = [&](TokenKind kind) { token_ = {kind, source_->text().substr(start, at_ - start)}; };
  if (at_ >= end_) return finish(TokenKind::kEnd);

  const char c = text[at_++];
  if (is_identifier_start(c)) {
    while (at_ < end_ && is_identifier_char(text[at_])) ++at_;
    return finish(TokenKind::kIdentifier);
  }
  if (is_class(c, kDigit)) {
    at_ = start;
    return scan_number();
  }
  switch (c) {
    case '"':
      scan_string(start);
      return finish(TokenKind::kString);
    case '-':
      if (at_ < end_ && text[at_] == '>') {
        ++at_;
        return finish(TokenKind::kArrow);
      }
      return finish(TokenKind::kPunctuation);
    case '@':
      if (at_ < end_ && text[at_] == '"') {
        scan_string(at_++);
        return finish(TokenKind::kSymbol);
      }
      [[fallthrough]];
    case '%':
    case '^':
    case '#':
    case '!': {
      // Digits only, or a name that does not start with a digit.
      const bool is_number = at_ < end_ && is_class(text[at_], kDigit);
      const int mask = is_number ? kDigit : kDigit | kLetter | kIdPunct;
      while (at_ < end_ && is_class(text[at_], mask)) ++at_;
      if (at_ == start + 1) return finish(TokenKind::kPunctuation);
      return finish(c == '@'   ? TokenKind::kSymbol
                    : c == '%' ? TokenKind::kValue
                    : c == '^' ? TokenKind::kBlock
                    : c == '#' ? TokenKind::kHash
                               : TokenKind::kBang);
    }
    default:
      if (c < ' ' || c > '~') {
        fail_at_offset(start, fmt::format("unexpected byte 0x{:02X}", static_cast<uint8_t>(c)));
      }
      return finish(TokenKind::kPunctuation);
  }
}

void Lexer::scan_number() {
  const char* text = source_->text().data();
  const size_t start = at_;
  const auto skip = [&](int mask) {
    while (at_ < end_ && is_class(text[at_], mask)) ++at_;
  };
  TokenKind kind = TokenKind::kInteger;
  if (text[at_] == '0' && at_ + 2 < end_ && text[at_ + 1] == 'x' && is_class(text[at_ + 2], kHex)) {
    at_ += 2;
    skip(kHex);
  } else {
    skip(kDigit);
    if (at_ < end_ && text[at_] == '.') {
      kind = TokenKind::kFloat;
      ++at_;
      skip(kDigit);
      if (at_ < end_ && (text[at_] | 32) == 'e') {
        const size_t mark = at_++;
        if (at_ < end_ && (text[at_] == '+' || text[at_] == '-')) ++at_;
        const size_t digits = at_;
        skip(kDigit);
        if (at_ == digits) at_ = mark;
      }
    }
  }
  token_ = {kind, source_->text().substr(start, at_ - start)};
}

// Leaves at_ after the closing quote; `start` is where the opening one stands.
void Lexer::scan_string(size_t start) {
  const char* text = source_->text().data();
  at_ = start + 1;
  while (at_ < end_ && text[at_] != '"' && text[at_] != '\n') at_ += text[at_] == '\\' ? 2 : 1;
  if (at_ >= end_ || text[at_] != '"') {
    at_ = end_;
    fail_at_offset(start, "the string has no closing quote on its line");
  }
  ++at_;
}

std::optional<uint64_t> integer_value(std::string_view text) {
  const bool is_hex = text.size() > 2 && text[1] == 'x';
  if (is_hex) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

double float_value(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // Out of range: strtod gives the infinity or the zero that is meant.
  if (error == std::errc::result_out_of_range) return std::strtod(std::string(text).c_str(), nullptr);
  return value;
}

std::string string_value(std::string_view text) {
  text = text.substr(1, text.size() - 2);
  std::string value;
  value.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      value += text[i];
    } else if (i + 2 < text.size() && is_class(text[i + 1], kHex) && is_class(text[i + 2], kHex)) {
      value += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      ++i;
      value += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i];
    }
  }
  return value;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c < ' ' || c > '~' || c == '"') {
      out += fmt::format("\\{:02X}", static_cast<uint8_t>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

bool is_bare_name(std::string_view text) {
  return !text.empty() && is_identifier_start(text[0]) && std::all_of(text.begin(), text.end(), is_identifier_char);
}

}  // namespace ingot
