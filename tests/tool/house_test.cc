// How the source is written: comments whose lines are whole, files and functions that a reader can take in at once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <regex>

#include "tests/support/source_files.h"

namespace ingot {
namespace {

using Strings = std::vector<std::string>;

// --- comments ---

// A line of one word under a long one: a sentence or a table that was torn apart.
Strings torn_comments(const SourceFile& file) {
  static const std::regex kOneWord(R"(\s*//+\s*\S+)");
  constexpr size_t kLong = 105;
  Strings torn;
  for (size_t i = 1; i < file.lines.size(); ++i) {
    const std::string& above = file.lines[i - 1];
    if (above.size() < kLong || above.find("//") == above.npos || !std::regex_match(file.lines[i], kOneWord)) continue;
    torn.push_back(fmt::format("{}:{}: one word is left over from the line above", file.path, i + 1));
  }
  return torn;
}

TEST(House, NoCommentIsTorn) {
  Strings torn;
  for (const SourceFile& file : read_sources(INGOT_SOURCE_DIR, {"aot", "apps", "bench", "engine", "schema", "tests"})) {
    std::ranges::copy(torn_comments(file), std::back_inserter(torn));
  }
  EXPECT_EQ(torn, Strings{});
}

TEST(House, TornCommentsAreFound) {
  const std::string long_line = "// " + std::string(110, 'x');
  EXPECT_EQ(torn_comments({"a.h", {long_line, "// word"}}).size(), 1u);
  EXPECT_EQ(torn_comments({"a.h", {long_line, "// two words"}}).size(), 0u);
  EXPECT_EQ(torn_comments({"a.h", {"// short", "// word"}}).size(), 0u);
}

// --- sizes ---

// Behind the next `mark` from `at`, or the end.
size_t behind(std::string_view text, std::string_view mark, size_t at) {
  const size_t found = text.find(mark, at);
  return found == text.npos ? text.size() : found + mark.size();
}

// Behind the text or character in quotes that begins at `at`.
size_t behind_quoted(std::string_view text, size_t at) {
  size_t i = at + 1;
  while (i < text.size() && text[i] != text[at]) i += text[i] == '\\' ? 2 : 1;
  return i + 1;
}

// Behind the comment, text, character or preprocessor line that begins at `at`; `at` itself where none does.
size_t behind_no_code(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("//")) return text.find('\n', at);
  if (rest.starts_with("/*")) return behind(text, "*/", at + 2);
  if (rest.starts_with("R\"")) {
    const std::string_view name = rest.substr(2, rest.find('(') - 2);
    return behind(text, fmt::format("){}\"", name), at);
  }
  if (rest.starts_with('"')) return behind_quoted(text, at);
  const bool is_separator = at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0;  // 1'000
  if (rest.starts_with('\'')) return is_separator ? at + 1 : behind_quoted(text, at);
  if (rest.starts_with('#') && text.find_last_not_of(" ", at - 1) == text.rfind('\n', at)) {
    size_t end = text.find('\n', at);
    while (text[end - 1] == '\\') end = text.find('\n', end + 1);
    return end;
  }
  return at;
}

// Only the code; line breaks stay.
std::string bare(const SourceFile& file) {
  std::string text = "\n", result;
  for (const std::string& line : file.lines) text += line + "\n";
  for (size_t i = 1; i < text.size();) {
    const size_t next = behind_no_code(text, i);
    if (next == i) {
      result += text[i++];
    } else {
      result.append(static_cast<size_t>(std::count(&text[i], &text[next], '\n')), '\n');
      i = next;
    }
  }
  return result;
}

enum class Brace { kScope, kFunction, kData };

// What `{` opens after `head`, the code since the last ';', '{' or '}' outside of functions.
Brace opened_by(const std::string& head) {
  static const std::regex kScope(R"(\b(namespace|extern)\b|\b(class|struct|union|enum)\b[^(]*$)");
  static const std::regex kData(R"([^=!<>]=[^=][^]*[^\])\s]\s*$|[^=!<>]=\s*$)");
  if (std::regex_search(head, kScope)) return Brace::kScope;
  if (head.find("operator") == head.npos && std::regex_search(head, kData)) return Brace::kData;
  return head.find_first_of("()]") == head.npos ? Brace::kData : Brace::kFunction;
}

struct Function {
  int first_line;
  int lines;  // of its body, braces included
};

std::vector<Function> functions_of(const SourceFile& file) {
  std::vector<Function> functions;
  std::vector<std::pair<Brace, int>> open;  // from which line on
  std::string head;
  int line = 1;
  for (const char c : bare(file)) {
    line += c == '\n';
    if (c == '{') {
      const bool is_inside = std::ranges::any_of(open, [](const auto& o) { return o.first == Brace::kFunction; });
      open.emplace_back(is_inside ? Brace::kData : opened_by(head), line);
    } else if (c == '}') {
      if (open.empty()) throw std::runtime_error(fmt::format("{}:{}: a brace too many", file.path, line));
      if (open.back().first == Brace::kFunction)
        functions.push_back({open.back().second, line - open.back().second + 1});
      open.pop_back();
    }
    head = c == '{' || c == '}' || c == ';' ? "" : head + c;
  }
  if (!open.empty()) throw std::runtime_error(fmt::format("{}:{}: an open brace", file.path, open.back().second));
  return functions;
}

TEST(House, FilesAndFunctionsAreShort) {
  constexpr size_t kFileLines = 500;
  constexpr int kFunctionLines = 60;
  size_t functions = 0;
  for (const SourceFile& file : read_sources(INGOT_SOURCE_DIR, {"aot", "engine"})) {
    EXPECT_LE(file.lines.size(), kFileLines) << file.path;
    for (const Function& function : functions_of(file)) {
      ++functions;
      EXPECT_LE(function.lines, kFunctionLines) << file.path << ":" << function.first_line;
    }
  }
  EXPECT_GT(functions, 2000u);
}

TEST(House, FunctionsAreMeasured) {
  const auto lengths = [](const Strings& lines) {
    std::vector<int> result;
    for (const Function& function : functions_of({"a.cc", lines})) result.push_back(function.lines);
    return result;
  };
  using Ints = std::vector<int>;
  EXPECT_EQ(lengths({"namespace a {", "int f() {", "  return 1;  // }", "}", "}"}), Ints{3});
  EXPECT_EQ(lengths({"struct A {", "  int f() const { return 1; }", "  int x = 1;", "};"}), Ints{1});
  EXPECT_EQ(lengths({"const int kTable[] = {", "    1, 2,", "};"}), Ints{});
  EXPECT_EQ(lengths({"const Row kRow = {.f = 1};", "const auto f = [](int x) {", "  return x;", "};"}), Ints{3});
  EXPECT_EQ(lengths({"A::A(int x)", "    : x_(x) {", "  if (x) { g('{', \"{\", R\"({)\"); }", "}"}), Ints{3});
  EXPECT_EQ(lengths({"#define OPEN {", "bool operator==(A, A) {", "  return 1'000;", "}"}), Ints{3});
  EXPECT_THROW(lengths({"int f() {"}), std::runtime_error);
}

}  // namespace
}  // namespace ingot
