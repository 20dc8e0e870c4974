#include "aot/graph/text/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "aot/graph/text/op_reader.h"
#include "aot/graph/verify.h"

namespace ingot {
namespace {

class ModuleReader {
 public:
  ModuleReader(const Source& source, size_t begin, size_t end, const OpTable& table)
      : text_(source, begin, end), ops_(text_, table) {}

  // Null when there is nothing.
  std::unique_ptr<Module> read() {
    auto module = std::make_unique<Module>();
    module->location = text_.location();
    skip_definitions();
    if (text_.at(TokenKind::kEnd)) return nullptr;
    if (text_.accept_word("module") || text_.accept_word("builtin.module")) {
      read_module(*module);
    } else {
      while (!text_.at(TokenKind::kEnd)) {
        read_function(*module);
        skip_definitions();
      }
    }
    skip_definitions();
    if (!text_.at(TokenKind::kEnd)) text_.fail_expected("the end of the text: a file has one module");
    verify(*module, ErrorKind::kError);
    return module;
  }

 private:
  void skip_definitions() {
    while (text_.at(TokenKind::kHash) || text_.at(TokenKind::kBang)) text_.skip_definition();
    if (text_.at('{'))
      throw_limit(text_.location(), "resources ({-# ... #-}) are not supported yet; dense<...> literals are");
  }

  void read_module(Module& module) {
    if (text_.at(TokenKind::kSymbol)) module.name = text_.expect_symbol();
    if (text_.accept_word("attributes")) module.attrs = parse_attr_dict(text_);
    text_.expect('{');
    while (!text_.at('}')) {
      if (text_.accept_word("sdy.mesh")) {
        skip_mesh();
      } else {
        read_function(module);
      }
    }
    text_.take();
    module.location = parse_optional_location(text_, module.location);
  }

  // @name = <["x"=1]>: how devices are arranged, behind the word.
  void skip_mesh() {
    text_.expect_symbol();
    text_.expect('=');
    text_.skip_group();
    if (text_.at('{')) text_.skip_group();
    parse_optional_location(text_, nullptr);
  }

  void read_function(Module& module) {
    const Location location = text_.location();
    if (text_.at_word("module") || text_.at_word("builtin.module")) {
      throw_limit(location, "a module inside a module, or a second one, is not supported");
    }
    if (!text_.accept_word("func.func")) text_.fail_expected("func.func");
    const bool is_private = text_.accept_word("private") || text_.accept_word("nested");
    if (!is_private) text_.accept_word("public");
    const Token symbol = text_.token();
    const std::string name = text_.expect_symbol();
    if (!names_.insert(name).second) text_.fail_at(symbol.text, fmt::format("function @{} is defined twice", name));
    Function& function = *module.add_function(name);
    function.is_private = is_private;

    const OpReader::Scope scope(ops_);
    read_arguments(function);
    if (text_.accept(TokenKind::kArrow)) read_results(function);
    if (text_.accept_word("attributes")) function.attrs = parse_attr_dict(text_);
    if (!text_.at('{')) {
      throw_limit(location, fmt::format("function @{} has no body; functions from elsewhere are not supported", name));
    }
    ops_.region(function.body);
    function.location = parse_optional_location(text_, location);
  }

  void read_arguments(Function& function) {
    text_.expect('(');
    while (!text_.at(')')) {
      const Token name = text_.expect(TokenKind::kValue, "an argument like %x");
      text_.expect(':');
      const Values values = ops_.argument(function.body, name, parse_written_type(text_));
      const AttrMap attrs = text_.at('{') ? parse_attr_dict(text_) : AttrMap{};
      const Location location = parse_optional_location(text_, text_.source().location(name.text));
      for (Value* value : values) {
        function.argument_attrs.push_back(attrs);
        value->location = location;
      }
      if (!text_.accept(',')) break;
    }
    text_.expect(')');
  }

  void read_results(Function& function) {
    const auto add = [&](const WrittenType& written, const AttrMap& attrs) {
      for (const TensorType& type : tensors_of(written)) function.results.push_back({type, attrs});
    };
    if (!text_.accept('(')) return add(parse_written_type(text_), {});
    while (!text_.at(')')) {
      const WrittenType type = parse_written_type(text_);
      add(type, text_.at('{') ? parse_attr_dict(text_) : AttrMap{});
      if (!text_.accept(',')) break;
    }
    text_.expect(')');
  }

  TextReader text_;
  OpReader ops_;
  std::set<std::string> names_;
};

// The ranges between lines that start with `// -----`.
std::vector<std::pair<size_t, size_t>> split_ranges(std::string_view text) {
  constexpr std::string_view kMark = "// -----";
  std::vector<std::pair<size_t, size_t>> ranges;
  size_t begin = 0;
  for (size_t line = 0; line < text.size();) {
    const size_t newline = std::min(text.find('\n', line), text.size());
    if (text.substr(line, kMark.size()) == kMark) {
      ranges.emplace_back(begin, line);
      begin = std::min(newline + 1, text.size());
    }
    line = newline + 1;
  }
  ranges.emplace_back(begin, text.size());
  return ranges;
}

}  // namespace

std::unique_ptr<Module> parse_module(std::string_view text, std::string file, const OpTable& table) {
  const Source source(text, std::move(file));
  auto module = ModuleReader(source, 0, text.size(), table).read();
  if (!module) throw_error(source.location(size_t{0}), "the text has no function");
  return module;
}

std::vector<ParsedPart> parse_split_parts(std::string_view text, std::string file, const OpTable& table) {
  const Source source(text, std::move(file));
  std::vector<ParsedPart> parts;
  for (const auto& [begin, end] : split_ranges(text)) {
    try {
      auto module = ModuleReader(source, begin, end, table).read();
      if (module) parts.push_back({std::move(module), nullptr});
    } catch (const Error& error) {
      parts.push_back({nullptr, std::make_unique<Error>(error)});
    }
  }
  return parts;
}

std::vector<std::unique_ptr<Module>> parse_split(std::string_view text, std::string file, const OpTable& table) {
  std::vector<std::unique_ptr<Module>> modules;
  for (ParsedPart& part : parse_split_parts(text, std::move(file), table)) {
    if (part.error) throw Error(*part.error);
    modules.push_back(std::move(part.module));
  }
  return modules;
}

std::string render(const Error& error, std::string_view text, std::string_view file) {
  std::string out = error.what();
  const Location& place = error.location();
  if (!place || place->kind != LocationNode::Kind::kFile || place->text != file || place->line < 1) return out;
  size_t begin = 0;
  for (int line = 1; line < place->line; ++line) {
    begin = text.find('\n', begin);
    if (begin == text.npos) return out;
    ++begin;
  }
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  // A long line is shown around the column.
  constexpr size_t kWidth = 120, kBefore = 80;
  const size_t column = static_cast<size_t>(std::max(place->column, 1)) - 1;
  const size_t from = column > kBefore ? column - kBefore : 0;
  const std::string_view shown = line.substr(std::min(from, line.size()), kWidth);
  out += '\n';
  for (const char c : shown) out += c == '\t' ? ' ' : c;
  out += '\n' + std::string(column - from, ' ') + '^';
  return out;
}

}  // namespace ingot
