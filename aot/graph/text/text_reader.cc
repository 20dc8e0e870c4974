#include "aot/graph/text/text_reader.h"

#include <fmt/format.h>

#include <cstring>

#include "aot/graph/quantization.h"

namespace ingot {
namespace {

constexpr int64_t kLargestExpansionBytes = int64_t{64} << 20;

// An alias definition starts a line: blanks, '#' or '!', a name, blanks, one '='. Returns the name and the offset of
// what follows '=', or an empty name.
std::pair<std::string_view, size_t> definition_at(std::string_view text, size_t at, size_t end) {
  const auto skip_blanks = [&] {
    while (at < end && (text[at] == ' ' || text[at] == '\t')) ++at;
  };
  skip_blanks();
  if (at >= end || (text[at] != '#' && text[at] != '!')) return {};
  const size_t start = at;
  while (at < end && !std::strchr(" \t=<\n,", text[at])) ++at;
  const std::string_view name = text.substr(start, at - start);
  skip_blanks();
  if (at >= end || text[at] != '=' || (at + 1 < end && text[at + 1] == '=')) return {};
  return {name, at + 1};
}

}  // namespace

TextReader::TextReader(const Source& source, size_t begin, size_t end) : Lexer(source, begin, end) {
  collect_aliases(begin, end);
}

void TextReader::collect_aliases(size_t begin, size_t end) {
  const std::string_view text = source().text();
  std::vector<std::string_view> in_order;
  for (size_t line = begin; line < end;) {
    const auto [name, body] = definition_at(text, line, end);
    if (!name.empty()) {
      Alias alias;
      alias.offset = body;
      if (!aliases_.emplace(name, std::move(alias)).second) fail_at(name, fmt::format("{} is defined twice", name));
      in_order.push_back(name);
    }
    const size_t newline = text.find('\n', line);
    line = newline == text.npos ? end : newline + 1;
  }
  // Printers define parts before wholes: read in this order, long chains of aliases do not nest.
  for (const std::string_view name : in_order) {
    if (aliases_.find(name)->second.state == Alias::State::kUnread) resolve(name);
  }
}

TextReader::Alias& TextReader::resolve(std::string_view name) {
  const auto found = aliases_.find(name);
  if (found == aliases_.end()) fail_at(name, fmt::format("{} is not defined in this text", name));
  Alias& alias = found->second;
  if (alias.state == Alias::State::kReading) fail_at(name, fmt::format("{} is defined by itself", name));
  if (alias.state == Alias::State::kUnread) {
    const Nesting nesting(*this);
    const Lexer mark = *this;
    const int64_t charged_before = charged_bytes_;
    alias.state = Alias::State::kReading;
    seek(alias.offset);
    if (at(TokenKind::kBang) && token().text.starts_with("!quant.")) {
      const auto quantization = parse_quantization(*this);  // an element type, kept as a scalar's
      alias.meaning = TensorType{quantization->expressed, {}, {}, quantization};
    } else if (name[0] == '!') {
      alias.meaning = parse_type(*this);
    } else if (at_word("loc")) {
      alias.meaning = parse_location(*this);
    } else {
      alias.meaning = parse_attr(*this);
    }
    alias.state = Alias::State::kRead;
    alias.end = end_of_last();
    alias.cost_bytes = charged_bytes_ - charged_before;
    static_cast<Lexer&>(*this) = mark;
  } else {
    charge(alias.cost_bytes);
  }
  return alias;
}

Attr TextReader::attr_alias() {
  const std::string_view name = token().text;
  const Attr* meaning = std::get_if<Attr>(&resolve(name).meaning);
  if (!meaning) fail_at(name, fmt::format("{} is not an attribute", name));
  take();
  return *meaning;
}

SizedLocation TextReader::location_alias() {
  const std::string_view name = token().text;
  const SizedLocation* meaning = std::get_if<SizedLocation>(&resolve(name).meaning);
  if (!meaning) fail_at(name, fmt::format("{} is not a location", name));
  take();
  return *meaning;
}

TensorType TextReader::type_alias() {
  const std::string_view name = token().text;
  const TensorType* meaning = std::get_if<TensorType>(&resolve(name).meaning);
  if (!meaning) fail_at(name, fmt::format("{} is not a type", name));
  take();
  return *meaning;
}

void TextReader::skip_definition() {
  const Token name = take();
  expect('=');
  const auto found = aliases_.find(name.text);
  if (found == aliases_.end() || found->second.offset != end_of_last()) {
    fail_at(name.text, fmt::format("the definition of {} must start a line", name.text));
  }
  seek(resolve(name.text).end);
}

void TextReader::skip_group() {
  if (!at('(') && !at('[') && !at('{') && !at('<')) fail_expected("a bracket");
  std::string closers;
  do {
    if (at(TokenKind::kEnd)) fail_expected(fmt::format("'{}'", closers.back()));
    const char c = at(TokenKind::kPunctuation) ? token().text[0] : ' ';
    switch (c) {
      case '(':
        closers += ')';
        break;
      case '[':
        closers += ']';
        break;
      case '{':
        closers += '}';
        break;
      case '<':
        closers += '>';
        break;
      case ')':
      case ']':
      case '}':
      case '>':
        if (closers.back() != c) fail_expected(fmt::format("'{}'", closers.back()));
        closers.pop_back();
        break;
      default:
        break;
    }
    take();
  } while (!closers.empty());
}

void TextReader::charge(int64_t bytes) {
  charged_bytes_ += bytes;
  if (charged_bytes_ > kLargestExpansionBytes) {
    throw_limit(location(), "the aliases of this text expand to more than 64 MiB of attributes");
  }
}

void TextReader::fail_too_deep() const {
  throw_limit(location(), fmt::format("nested deeper than {} levels", kDeepest));
}

std::string parse_name(TextReader& reader) {
  if (reader.at(TokenKind::kString)) return reader.expect_string("a name");
  return std::string(reader.expect(TokenKind::kIdentifier, "a name").text);
}

std::vector<int64_t> parse_int_list(TextReader& reader) {
  std::vector<int64_t> values;
  reader.expect('[');
  while (!reader.at(']')) {
    if (reader.accept_word("true")) {
      values.push_back(1);
    } else if (reader.accept_word("false")) {
      values.push_back(0);
    } else {
      values.push_back(reader.expect_integer("an integer"));
    }
    if (!reader.accept(',')) break;
  }
  reader.expect(']');
  return values;
}

}  // namespace ingot
