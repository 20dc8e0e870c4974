#include "aot/graph/text/assembly.h"

#include <span>

#include "aot/base/lexer.h"
#include "aot/graph/text/assembly_custom.h"

namespace ingot {
namespace {

using Kind = AssemblyItem::Kind;

struct Directive {
  std::string_view word;
  Kind kind;
};
constexpr Directive kWithAttribute[] = {
    {"ints", Kind::kInts},     {"bools", Kind::kBools},     {"int", Kind::kInt},
    {"bool", Kind::kBool},     {"float", Kind::kFloat},     {"string", Kind::kString},
    {"symbol", Kind::kSymbol}, {"literal", Kind::kLiteral}, {"custom", Kind::kCustom},
};
constexpr Directive kTypes[] = {
    {"same", Kind::kTypeSame},     {"functional", Kind::kTypeFunctional}, {"arrow", Kind::kTypeArrow},
    {"result", Kind::kTypeResult}, {"operands", Kind::kTypeOperands},     {"select", Kind::kTypeSelect},
};

class FormatReader {
 public:
  explicit FormatReader(std::string_view format) : source_(format, "assembly format"), lexer_(source_) {}

  Assembly read(bool in_group) {
    Assembly items;
    while (in_group ? !lexer_.at(')') : !lexer_.at(TokenKind::kEnd)) items.push_back(read_item());
    return items;
  }

 private:
  AssemblyItem read_item() {
    if (lexer_.at('`')) return {Kind::kText, read_text()};
    if (lexer_.accept('$')) {
      lexer_.expect_integer("an operand's index");
      return {Kind::kOperand};
    }
    if (lexer_.accept('(')) {
      AssemblyItem group{Kind::kGroup, "", "", read(true)};
      lexer_.expect(')');
      lexer_.expect('?');
      return group;
    }
    if (lexer_.accept(':')) return {kind_of(kTypes, lexer_.take().text)};
    if (lexer_.accept_word("operands")) return {Kind::kOperands};
    if (lexer_.accept_word("types")) return {Kind::kTypes};
    if (lexer_.accept_word("attr")) {
      lexer_.expect('-');
      lexer_.expect_word("dict");
      return {Kind::kAttrDict};
    }
    AssemblyItem item{Kind::kEnum};
    if (!lexer_.accept_word("enum")) item.kind = kind_of(kWithAttribute, lexer_.take().text);
    lexer_.expect('(');
    item.name = lexer_.expect(TokenKind::kIdentifier, "a name").text;
    if (item.kind == Kind::kEnum) {
      lexer_.expect(',');
      item.enum_kind = lexer_.expect(TokenKind::kIdentifier, "the enum's kind").text;
    }
    lexer_.expect(')');
    return item;
  }

  std::string read_text() {
    const size_t start = lexer_.offset() + 1;
    const size_t end = source_.text().find('`', start);
    INGOT_CHECK(end != std::string_view::npos);
    lexer_.seek(end + 1);
    return std::string(source_.text().substr(start, end - start));
  }

  Kind kind_of(std::span<const Directive> table, std::string_view word) const {
    for (const Directive& row : table) {
      if (row.word == word) return row.kind;
    }
    throw_bug("assembly format \"" + std::string(source_.text()) + "\": unknown word " + std::string(word));
  }

  Source source_;
  Lexer lexer_;
};

void collect_named(const Assembly& assembly, Assembly& named) {
  for (const AssemblyItem& item : assembly) {
    switch (item.kind) {
      case Kind::kGroup:
        collect_named(item.group, named);
        break;
      case Kind::kCustom:
        collect_named(find_custom(item.name).attributes, named);
        break;
      case Kind::kInts:
      case Kind::kBools:
      case Kind::kInt:
      case Kind::kBool:
      case Kind::kFloat:
      case Kind::kString:
      case Kind::kEnum:
      case Kind::kSymbol:
      case Kind::kLiteral:
      case Kind::kOther:
        named.push_back(item);
        break;
      default:
        break;
    }
  }
}

}  // namespace

Assembly compile_assembly(std::string_view format) { return FormatReader(format).read(false); }

Assembly named_attributes(const Assembly& assembly) {
  Assembly named;
  collect_named(assembly, named);
  return named;
}

void normalize_attributes(const Assembly& named, AttrMap& attrs, const Location& location) {
  for (const AssemblyItem& item : named) {
    const auto found = attrs.find(item.name);
    if (found == attrs.end()) continue;
    Attr& attr = found->second;
    if (item.kind == Kind::kInts || item.kind == Kind::kBools) {
      if (attr.as<LiteralRef>() || attr.as<std::vector<Attr>>()) {
        IntsAttr ints{Attrs(attrs, "op", location).ints(item.name), DType::kI64};
        if (item.kind == Kind::kBools) ints.dtype = DType::kI1;
        attr = std::move(ints);
      }
    } else if (item.kind == Kind::kSymbol) {
      if (const auto* text = attr.as<std::string>()) attr = SymbolAttr{*text};
    } else if (item.kind == Kind::kString) {
      if (const auto* symbol = attr.as<SymbolAttr>()) attr = symbol->name;
    }
  }
}

}  // namespace ingot
