#include "aot/graph/text/assembly_regions.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/graph/text/op_printer.h"
#include "aot/graph/text/op_reader.h"

namespace ingot {
namespace {

constexpr std::string_view kEnd = "stablehlo.return";

// The only op of a region `(x, y) { z = op x, y; return z }` over scalars of one type, or null.
const Op* applied_op(const Block& block) {
  if (block.arguments.size() != 2 || block.ops.size() != 2) return nullptr;
  const Op& op = *block.ops.front();
  const Op& end = *block.ops.back();
  const TensorType& type = block.argument(0)->type;
  const bool is_plain = op.operands == Values{block.argument(0), block.argument(1)} && op.results.size() == 1 &&
                        op.attr_map.empty() && op.regions.empty() && end.operands == Values{op.result()} &&
                        end.name() == kEnd && end.attr_map.empty();
  const bool is_scalar = type.rank() == 0 && block.argument(1)->type == type && op.result()->type == type;
  return is_plain && is_scalar ? &op : nullptr;
}

// The region that `applies stablehlo.add` stands for, on elements of the start value's type.
std::unique_ptr<Block> region_that_applies(OpReader& reader, const TensorType& type) {
  TextReader& text = reader.text;
  auto block = std::make_unique<Block>();
  const Location location = text.location();
  OpDraft inner;
  inner.name = text.expect(TokenKind::kIdentifier, "an op");
  inner.def = reader.find_op(inner.name);
  for (int i = 0; i < 2; ++i) {
    inner.operands.push_back(block->add_argument(type, "", location));
    inner.operand_texts.push_back(inner.name.text);
  }
  OpDraft end;
  end.name = inner.name;
  end.def = reader.table().find(kEnd);
  INGOT_CHECK(end.def);
  const Op* op = reader.make(std::move(inner), *block, location);
  if (op->results.size() != 1) text.fail_at(end.name.text, "a reducer has one result");
  end.operands = {op->result()};
  end.operand_texts = {end.name.text};
  reader.make(std::move(end), *block, location);
  return block;
}

// `(%p: type, %q: type)` for each reduced tensor: the running value and the next element. The block's arguments are all
// running values, then all elements.
void parse_reducer_arguments(OpReader& reader, Block& block, size_t count) {
  TextReader& text = reader.text;
  std::vector<std::unique_ptr<Value>> elements;
  for (size_t i = 0; i < count; ++i) {
    Block pair;
    const Token open = text.token();
    reader.arguments(pair);
    if (pair.arguments.size() != 2) text.fail_at(open.text, "expected two arguments: (%p: type, %q: type)");
    block.arguments.push_back(std::move(pair.arguments[0]));
    elements.push_back(std::move(pair.arguments[1]));
  }
  for (auto& element : elements) block.arguments.push_back(std::move(element));
  for (size_t i = 0; i < block.arguments.size(); ++i) {
    block.arguments[i]->block = &block;
    block.arguments[i]->index = static_cast<int>(i);
  }
}

}  // namespace

void parse_reduce(OpReader& reader, OpDraft& draft) {
  TextReader& text = reader.text;
  OpDraft starts;
  do {
    text.expect('(');
    reader.operand(draft);
    text.expect_word("init");
    text.expect(':');
    reader.operand(starts);
    text.expect(')');
  } while (text.accept(','));
  const size_t count = starts.operands.size();
  draft.operands.insert(draft.operands.end(), starts.operands.begin(), starts.operands.end());
  draft.operand_texts.insert(draft.operand_texts.end(), starts.operand_texts.begin(), starts.operand_texts.end());

  if (text.accept_word("applies")) {
    if (count != 1) text.fail("'applies' reduces one tensor; write 'reducer' and its region instead");
    draft.regions.push_back(region_that_applies(reader, draft.operands[1]->type));
  }
  text.expect_word("across");
  text.expect_word("dimensions");
  text.expect('=');
  draft.attrs.insert_or_assign("dimensions", IntsAttr{parse_int_list(text)});
  if (text.accept('{')) parse_attr_entries(text, '}', draft.attrs);
  reader.types(draft, AssemblyItem::Kind::kTypeFunctional);
  if (!draft.regions.empty()) return;

  text.expect_word("reducer");
  auto block = std::make_unique<Block>();
  const OpReader::Scope scope(reader);
  parse_reducer_arguments(reader, *block, count);
  reader.region(*block);
  draft.regions.push_back(std::move(block));
}

void print_reduce(OpPrinter& printer, const Op& op) {
  const size_t count = op.operands.size() / 2;
  for (size_t i = 0; i < count; ++i) {
    printer.out += i ? ", (" : "(";
    printer.value(op.operands[i]);
    printer.out += " init: ";
    printer.value(op.operands[count + i]);
    printer.out += ')';
  }
  const Block& block = op.region();
  const Op* applied = count == 1 ? applied_op(block) : nullptr;
  if (applied) printer.out += fmt::format(" applies {}", applied->name());
  printer.out += " across dimensions = ";
  print_int_list(printer.out, op.attr_map.find("dimensions")->second.as<IntsAttr>()->values);
  printer.attr_dict(op);
  printer.out += " : ";
  printer.functional_type(op);
  if (applied) return;

  ++printer.depth;
  printer.line();
  --printer.depth;
  printer.out += "reducer";
  for (size_t i = 0; i < count; ++i) {
    printer.out += i ? " (" : "(";
    for (const size_t index : {i, count + i}) {
      if (index != i) printer.out += ", ";
      printer.argument(*block.arguments[index]);
      printer.location(block.arguments[index]->location);
    }
    printer.out += ')';
  }
  printer.out += ' ';
  printer.region(block, false);
}

bool can_print_reduce(const Op& op) {
  const auto found = op.attr_map.find("dimensions");
  const auto* dims = found == op.attr_map.end() ? nullptr : found->second.as<IntsAttr>();
  if (!dims || dims->dtype != DType::kI64 || op.regions.size() != 1) return false;
  if (op.operands.empty() || op.operands.size() % 2 != 0) return false;
  if (op.region().arguments.size() != op.operands.size()) return false;
  const bool applies = op.operands.size() == 2 && applied_op(op.region());
  return !applies || op.region().argument(0)->type == op.operand(1)->type;
}

void parse_while(OpReader& reader, OpDraft& draft) {
  TextReader& text = reader.text;
  std::vector<Token> names;
  text.expect('(');
  while (!text.at(')')) {
    names.push_back(text.expect(TokenKind::kValue, "an argument like %x"));
    text.expect('=');
    reader.operand(draft);
    if (!text.accept(',')) break;
  }
  text.expect(')');
  if (!names.empty()) {
    reader.types(draft, AssemblyItem::Kind::kTypeOperands);
    draft.has_declared = false;
  }
  if (text.accept_word("attributes")) {
    text.expect('{');
    parse_attr_entries(text, '}', draft.attrs);
  }
  for (const char* word : {"cond", "do"}) {
    text.expect_word(word);
    auto block = std::make_unique<Block>();
    const OpReader::Scope scope(reader);
    for (size_t i = 0; i < names.size(); ++i) {
      Value* argument = block->add_argument(draft.operands[i]->type, "", text.source().location(names[i].text));
      reader.define(*argument, names[i].text);
    }
    reader.region(*block);
    draft.regions.push_back(std::move(block));
  }
}

void print_while(OpPrinter& printer, const Op& op) {
  printer.out += '(';
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (i) printer.out += ", ";
    printer.value(op.region(0).arguments[i].get());
    printer.out += " = ";
    printer.value(op.operands[i]);
  }
  printer.out += ')';
  if (!op.operands.empty()) {
    printer.out += " : ";
    printer.types(op.operands);
  }
  if (!op.attr_map.empty()) {
    printer.out += " attributes ";
    print_attr_dict(printer.out, op.attr_map);
  }
  printer.line();
  printer.out += "cond ";
  printer.region(op.region(0), false);
  printer.out += " do ";
  printer.region(op.region(1), false);
}

bool can_print_while(const Op& op) {
  const auto carries = [&](const auto& values) {
    return std::equal(values.begin(), values.end(), op.operands.begin(), op.operands.end(),
                      [](const auto& value, const Value* operand) { return value->type == operand->type; });
  };
  return op.regions.size() == 2 && carries(op.results) && carries(op.region(0).arguments) &&
         carries(op.region(1).arguments);
}

}  // namespace ingot
