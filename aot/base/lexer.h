// Words of a text: the one lexer of ingot's three texts (graph, loops, plan). Its words are MLIR's.
//
//   add stablehlo.add _x1      identifier: letters, digits, '_', '.', '$'; starts with a letter or '_'
//   %0 %arg.x  @name @"a b"    value, symbol
//   ^bb0  #loc1  !quant.x      block label, attribute alias or dialect attribute, type alias or dialect type
//   12 0xFF 1.0 2.5e-3 "text"  integer (decimal or hexadecimal), float, string; a sign is a punctuation of its own
//   ->  and single characters  punctuation
//   // to the end of the line  comment, skipped
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aot/base/error.h"

namespace ingot {

enum class TokenKind : uint8_t {
  kEnd,
  kIdentifier,
  kValue,    // %name
  kSymbol,   // @name or @"name"
  kBlock,    // ^name
  kHash,     // #name
  kBang,     // !name
  kInteger,  // 12 or 0xC
  kFloat,
  kString,  // with its quotes
  kArrow,   // ->
  kPunctuation,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  // as written, with sigil or quotes; a piece of the source

  bool is(char c) const { return kind == TokenKind::kPunctuation && text[0] == c; }
  bool is(TokenKind k) const { return kind == k; }
  bool is_word(std::string_view word) const { return kind == TokenKind::kIdentifier && text == word; }
  std::string_view name() const { return text.substr(1); }  // without the sigil
};

// Text with the place of each line in it. The characters are the caller's and must live as long as the Source.
class Source {
 public:
  Source(std::string_view text, std::string file);

  std::string_view text() const { return text_; }
  const std::string& file() const { return file_; }
  // The file, line and column (both from 1) of a character.
  Location location(size_t offset) const;
  Location location(std::string_view piece) const { return location(piece.data() - text_.data()); }

 private:
  std::string_view text_;
  std::string file_;
  std::vector<size_t> line_starts_;
};

// Reads one token ahead. Every mistake is an Error of kind kError at the token's place.
class Lexer {
 public:
  // Reads source.text()[begin, end).
  Lexer(const Source& source, size_t begin, size_t end);
  explicit Lexer(const Source& source) : Lexer(source, 0, source.text().size()) {}

  const Source& source() const { return *source_; }
  const Token& token() const { return token_; }  // the next one, not yet taken
  Token take();
  bool at(char c) const { return token_.is(c); }
  bool at(TokenKind kind) const { return token_.kind == kind; }
  bool at_word(std::string_view word) const { return token_.is_word(word); }

  // Takes the next token when it is this one.
  bool accept(char c);
  bool accept(TokenKind kind);
  bool accept_word(std::string_view word);

  // Takes the next token, which must be this one; `what` says it in words: "expected WHAT, found ...".
  void expect(char c);
  Token expect(TokenKind kind, std::string_view what);
  void expect_word(std::string_view word);

  // Decimal or hexadecimal, with an optional '-'; 2^63 to 2^64 - 1 stand for their 64 bits.
  int64_t expect_integer(std::string_view what);
  double expect_number(std::string_view what);  // integer or float, with an optional '-'
  std::string expect_string(std::string_view what);
  std::string expect_symbol();  // without '@' and quotes

  // Where the next token starts (or the text ends), where the last one taken ended, and going on from another place of
  // the same source. A copy of a Lexer is a mark to come back to by assignment.
  size_t offset() const { return token_.text.data() - source_->text().data(); }
  size_t end_of_last() const { return last_end_; }
  void seek(size_t offset);
  std::string_view text_since(size_t offset) const { return source_->text().substr(offset, last_end_ - offset); }

  Location location() const { return source_->location(offset()); }
  [[noreturn]] void fail(const std::string& message) const;      // at the next token
  [[noreturn]] void fail_expected(std::string_view what) const;  // "expected WHAT, found TOKEN"
  [[noreturn]] void fail_at(std::string_view piece, const std::string& message) const;

 private:
  void skip_blanks();  // and comments
  void scan();
  void scan_number();
  void scan_string(size_t start);
  [[noreturn]] void fail_at_offset(size_t offset, const std::string& message) const;

  const Source* source_;
  size_t at_;  // the first character after token_
  size_t end_;
  size_t last_end_;
  Token token_;
};

// The value of a token. Integers: nullopt when it does not fit 64 bits; hexadecimal and decimal up to 2^64 - 1.
std::optional<uint64_t> integer_value(std::string_view token_text);
double float_value(std::string_view token_text);
std::string string_value(std::string_view token_text);  // without quotes and escapes

std::string quoted(std::string_view text);  // as a string token, with escapes
bool is_bare_name(std::string_view text);   // an identifier

}  // namespace ingot
