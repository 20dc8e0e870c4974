// The two forms of an op behind its name: pretty, as its assembly says, and generic.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "aot/graph/float_bits.h"
#include "aot/graph/text/assembly_custom.h"
#include "aot/graph/text/op_reader.h"

namespace ingot {
namespace {

using Kind = AssemblyItem::Kind;

// A number, or the bits of one that is not finite.
double read_float(TextReader& text) {
  if (!text.at(TokenKind::kInteger) || !text.token().text.starts_with("0x")) return text.expect_number("a number");
  const Token number = text.take();
  const auto bits = integer_value(number.text);
  if (!bits) text.fail_at(number.text, "a number of 64 bits at most is expected");
  return float_from_bits(DType::kF64, *bits);
}

// The attribute that an item stands for, in its form; nullopt where it stands for something else.
std::optional<Attr> read_attr(TextReader& text, const AssemblyItem& item) {
  switch (item.kind) {
    case Kind::kInts:
      return IntsAttr{parse_int_list(text)};
    case Kind::kBools:
      return IntsAttr{parse_int_list(text), DType::kI1};
    case Kind::kInt:
      return IntAttr{text.expect_integer("an integer")};
    case Kind::kBool:
      if (!text.at_word("true") && !text.at_word("false")) text.fail_expected("true or false");
      return text.take().text == "true";
    case Kind::kFloat:
      return FloatAttr{read_float(text)};
    case Kind::kString:
      return text.expect_string("a string");
    case Kind::kSymbol:
      return SymbolAttr{text.expect_symbol()};
    case Kind::kLiteral:
      return parse_literal(text);
    case Kind::kEnum:
      return EnumAttr{item.enum_kind, std::string(text.expect(TokenKind::kIdentifier, "a " + item.enum_kind).text)};
    default:
      return std::nullopt;
  }
}

}  // namespace

std::vector<WrittenType> OpReader::type_list() {
  std::vector<WrittenType> types;
  if (text.accept('(')) {
    while (!text.at(')')) {
      types.push_back(parse_written_type(text));
      if (!text.accept(',')) break;
    }
    text.expect(')');
  } else {
    do {
      types.push_back(parse_written_type(text));
    } while (text.accept(','));
  }
  return types;
}

void OpReader::check_operand_types(const OpDraft& draft, std::span<const TensorType> types) {
  if (types.size() != draft.operands.size()) {
    text.fail_at(draft.name.text, fmt::format("{} has {} operands and {} operand types", draft.def->name,
                                              draft.operands.size(), types.size()));
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] == draft.operands[i]->type) continue;
    text.fail_at(draft.operand_texts[i],
                 fmt::format("{} is {}, but {} says {}", draft.operand_texts[i], to_string(draft.operands[i]->type),
                             draft.def->name, to_string(types[i])));
  }
}

void OpReader::types(OpDraft& draft, Kind directive) {
  text.expect(':');
  draft.operand_types = type_list();
  const std::vector<TensorType> types = tensors_of(draft.operand_types);
  const auto declare = [&](std::vector<WrittenType> written) {
    draft.result_types = std::move(written);
    draft.declared = tensors_of(draft.result_types);
    draft.has_declared = true;
  };
  if (text.accept(TokenKind::kArrow)) {
    check_operand_types(draft, types);
    declare(type_list());
  } else if (directive == Kind::kTypeOperands) {
    check_operand_types(draft, types);
  } else if (directive == Kind::kTypeSelect && types.size() == 2 && !has_tuple(draft.operand_types)) {
    declare({draft.operand_types[1]});
    check_operand_types(draft, std::vector{types[0], types[1], types[1]});
  } else if (directive == Kind::kTypeResult && draft.operand_types.size() == 1) {
    declare(draft.operand_types);
  } else if (directive != Kind::kTypeResult && types.size() == 1) {
    check_operand_types(draft, std::vector(draft.operands.size(), types[0]));
    draft.declared = types;
    draft.every_type = types[0];
  } else {
    text.fail_expected("'->' and the result types");
  }
}

void OpReader::attr_dict(OpDraft& draft) {
  if (text.accept('{')) parse_attr_entries(text, '}', draft.attrs);
}

// Each token of `words` in turn; nothing is taken unless all are there.
bool OpReader::accept_text(std::string_view words) {
  const Source source(words, "");
  Lexer wanted(source);
  const Lexer mark = text;
  while (!wanted.at(TokenKind::kEnd)) {
    if (wanted.token().text != text.token().text) {
      static_cast<Lexer&>(text) = mark;
      return false;
    }
    wanted.take();
    text.take();
  }
  return true;
}

void OpReader::group(OpDraft& draft, const Assembly& group) {
  const Lexer mark = text;
  size_t count = 0;
  while (count < group.size() && group[count].kind == Kind::kText) {
    if (!accept_text(group[count].name)) {
      static_cast<Lexer&>(text) = mark;
      return;
    }
    ++count;
  }
  INGOT_CHECK(count > 0);
  pretty(draft, {group.begin() + static_cast<std::ptrdiff_t>(count), group.end()});
}

void OpReader::pretty(OpDraft& draft, const Assembly& assembly) {
  for (const AssemblyItem& item : assembly) {
    if (std::optional<Attr> attr = read_attr(text, item)) {
      draft.attrs.insert_or_assign(item.name, *std::move(attr));
      continue;
    }
    switch (item.kind) {
      case Kind::kText:
        if (!accept_text(item.name)) text.fail_expected(fmt::format("'{}'", item.name));
        break;
      case Kind::kOperands:
        operands(draft);
        break;
      case Kind::kOperand:
        operand(draft);
        break;
      case Kind::kAttrDict:
        attr_dict(draft);
        break;
      case Kind::kGroup:
        group(draft, item.group);
        break;
      case Kind::kCustom:
        find_custom(item.name).parse(*this, draft);
        break;
      case Kind::kTypes:
        check_operand_types(draft, tensors_of(type_list()));
        break;
      default:
        types(draft, item.kind);
        break;
    }
  }
}

// "name"(%a, %b) <{properties}> ({region}, {region}) {attributes} : (types) -> types, after the name.
void OpReader::generic(OpDraft& draft) {
  text.expect('(');
  operands(draft);
  text.expect(')');
  if (text.at('[')) throw_limit(text.location(), "branches to blocks are not supported; regions have one block");
  if (text.accept('<')) {
    text.expect('{');
    parse_attr_entries(text, '}', draft.attrs);
    text.expect('>');
  }
  if (text.accept('(')) {
    do {
      auto block = std::make_unique<Block>();
      const Scope scope(*this);
      region(*block);
      draft.regions.push_back(std::move(block));
    } while (text.accept(','));
    text.expect(')');
  }
  attr_dict(draft);
  if (!text.at(':')) text.fail_expected("':' and the types of operands and results");
  types(draft, Kind::kTypeFunctional);
  if (!draft.has_declared) text.fail_expected("'->' and the result types");
}

}  // namespace ingot
