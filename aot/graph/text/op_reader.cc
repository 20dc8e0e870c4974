#include "aot/graph/text/op_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/base/nearest.h"
#include "aot/graph/result_types.h"
#include "aot/graph/text/public_ops.h"

namespace ingot {
namespace {

using Kind = AssemblyItem::Kind;

// "%name" without digits-only names: those are numbered anew when printed.
std::string kept_name(std::string_view token) {
  const std::string_view name = token.substr(1);
  const bool is_number = name.find_first_not_of("0123456789") == name.npos;
  return is_number ? "" : std::string(name);
}

// What makes and takes apart tuples makes no op: these tell how it is written.
const OpDef kTuple = {.name = "stablehlo.tuple", .assembly = "operands attr-dict :result"};
const OpDef kGetTupleElement = {.name = "stablehlo.get_tuple_element",
                                .assembly = "$0 `[` int(index) `]` attr-dict :functional"};

void add_result(Op& op, const TensorType& type, const Location& location) {
  auto value = std::make_unique<Value>();
  value->type = type;
  value->op = &op;
  value->index = static_cast<int>(op.results.size());
  value->location = location;
  op.results.push_back(std::move(value));
}

}  // namespace

OpReader::Scope::~Scope() {
  while (reader_.defined_.size() > mark_) {
    reader_.definitions_.erase(reader_.defined_.back());
    reader_.tuples_.erase(reader_.defined_.back());
    reader_.defined_.pop_back();
  }
}

void OpReader::claim(std::string_view name) {
  if (definitions_.contains(name) || tuples_.contains(name)) {
    text.fail_at(name, fmt::format("{} is defined already", name));
  }
  defined_.push_back(name);
}

void OpReader::add_definition(std::string_view name, Definition definition) {
  claim(name);
  definitions_.emplace(name, definition);
}

void OpReader::define(Value& value, std::string_view name_token) {
  value.name = kept_name(name_token);
  add_definition(name_token, {.argument = &value});
}

Values OpReader::argument(Block& block, const Token& name, const WrittenType& type) {
  Values values;
  for (const TensorType& tensor : tensors_of(type)) values.push_back(block.add_argument(tensor));
  if (type.is_tuple) {
    const ResultName result{name};
    define_tuples(std::span(&result, 1), std::span(&type, 1), values);
  } else {
    define(*values[0], name.text);
  }
  return values;
}

// The 1 of `%x#1`; 0 without it, for a group of one.
int64_t OpReader::result_number(const Token& name, int64_t count) {
  if (text.at(TokenKind::kHash) && text.offset() == text.end_of_last()) {
    const Token suffix = text.take();
    const auto value = integer_value(suffix.name());
    if (!value || *value >= static_cast<uint64_t>(count)) {
      text.fail_at(suffix.text, fmt::format("{} has {} results", name.text, count));
    }
    return static_cast<int64_t>(*value);
  }
  if (count != 1) {
    text.fail_at(name.text, fmt::format("{0} has {1} results; write {0}#0 to {0}#{2}", name.text, count, count - 1));
  }
  return 0;
}

void OpReader::operand(OpDraft& draft) {
  const Token name = text.expect(TokenKind::kValue, "a value like %x");
  const auto add = [&](Value* value) {
    draft.operands.push_back(value);
    draft.operand_texts.push_back(name.text);
  };
  if (const auto found = definitions_.find(name.text); found != definitions_.end()) {
    const Definition& definition = found->second;
    const int64_t number = result_number(name, definition.count);
    return add(definition.argument ? definition.argument
                                   : definition.op->result(definition.first + static_cast<int>(number)));
  }
  const auto tuple = tuples_.find(name.text);
  if (tuple == tuples_.end()) text.fail_at(name.text, fmt::format("{} is not defined above", name.text));
  const int64_t number = result_number(name, static_cast<int64_t>(tuple->second.size()));
  for (Value* tensor : tuple->second[number].tensors) add(tensor);
}

void OpReader::operands(OpDraft& draft) {
  if (!text.at(TokenKind::kValue)) return;
  operand(draft);
  while (text.at(',')) {
    const Lexer mark = text;
    text.take();
    if (!text.at(TokenKind::kValue)) {
      static_cast<Lexer&>(text) = mark;
      return;
    }
    operand(draft);
  }
}

void OpReader::arguments(Block& block) {
  text.expect('(');
  while (!text.at(')')) {
    const Token name = text.expect(TokenKind::kValue, "an argument like %x");
    text.expect(':');
    const Values values = argument(block, name, parse_written_type(text));
    const Location location = text.at_word("loc") ? parse_location(text).location : text.source().location(name.text);
    for (Value* value : values) value->location = location;
    if (!text.accept(',')) break;
  }
  text.expect(')');
}

void OpReader::region(Block& block) {
  const TextReader::Nesting nesting(text);
  const Token open = text.token();
  text.expect('{');
  if (text.accept(TokenKind::kBlock)) {
    if (text.at('(')) arguments(block);
    text.expect(':');
  }
  while (!text.at('}')) {
    if (text.at(TokenKind::kBlock)) throw_limit(text.location(), "a region with several blocks is not supported");
    if (!block.ops.empty() && block.ops.back()->def->is_terminator) {
      text.fail(fmt::format("expected '}}': nothing may follow {}", block.ops.back()->name()));
    }
    op(block);
  }
  text.take();
  if (block.ops.empty() || !block.ops.back()->def->is_terminator) {
    text.fail_at(open.text, "the block that starts here must end in a return");
  }
}

const OpDef* OpReader::find_op(const Token& name) const {
  std::string op_name = name.is(TokenKind::kString) ? string_value(name.text) : std::string(name.text);
  if (op_name == "call" || op_name == "return") op_name = "func." + op_name;
  if (const OpDef* def = table_.find(op_name)) return def;
  for (const OpDef* def : {&kTuple, &kGetTupleElement}) {
    if (op_name == def->name) return def;
  }
  if (const std::string_view refusal = refusal_of(op_name); !refusal.empty()) {
    throw_limit(text.source().location(name.text), fmt::format("{} {}", op_name, refusal));
  }
  if (is_public_op(op_name)) {
    throw_limit(text.source().location(name.text), fmt::format("op {} is not supported yet", op_name));
  }
  std::vector<std::string> known;
  for (const OpDef* def : table_.all()) known.emplace_back(def->name);
  const std::vector<std::string> near = nearest_names(known, op_name, 2);
  std::string message = fmt::format("unknown op {}", op_name);
  if (!near.empty()) message += "; did you mean " + near[0] + "?";
  text.fail_at(name.text, message);
}

std::vector<OpReader::ResultName> OpReader::result_names() {
  std::vector<ResultName> names;
  if (!text.at(TokenKind::kValue)) return names;
  do {
    ResultName name{text.expect(TokenKind::kValue, "a result like %x")};
    if (text.accept(':')) name.count = text.expect_integer("the number of results");
    if (name.count < 1 || name.count > 100000)
      text.fail_at(name.token.text, "the number of results must be 1 to 100000");
    names.push_back(name);
  } while (text.accept(','));
  text.expect('=');
  return names;
}

void OpReader::op(Block& block) {
  const std::vector<ResultName> names = result_names();
  OpDraft draft;
  draft.name = text.token();
  if (!text.at(TokenKind::kIdentifier) && !text.at(TokenKind::kString)) text.fail_expected("an op");
  draft.def = find_op(draft.name);
  text.take();
  if (draft.name.is(TokenKind::kString)) {
    generic(draft);
    normalize_attributes(named_of(*draft.def), draft.attrs, text.source().location(draft.name.text));
  } else {
    if (draft.def->assembly.empty()) {
      text.fail_at(draft.name.text,
                   fmt::format("{0} is written in quotes: \"{0}\"(operands) ... : (types) -> types", draft.def->name));
    }
    pretty(draft, assembly_of(*draft.def));
  }
  const Token written = draft.name;
  Location location = text.at_word("loc") ? parse_location(text).location : text.source().location(written.text);
  const std::vector<WrittenType> types = std::move(draft.result_types);
  if (draft.def == &kTuple) return define_tuples(names, types, draft.operands);
  if (draft.def == &kGetTupleElement) return define_tuples(names, types, element_of_tuple(draft));
  if (!has_tuple(types)) return define_results(names, make(std::move(draft), block, std::move(location)));
  Values tensors;
  for (const auto& result : make(std::move(draft), block, std::move(location))->results)
    tensors.push_back(result.get());
  define_tuples(names, types, tensors);
}

void OpReader::define_results(const std::vector<ResultName>& names, Op* made) {
  int first = 0;
  const int result_count = static_cast<int>(made->results.size());
  for (const ResultName& name : names) {
    if (name.count > result_count - first) break;
    made->result(first)->name = kept_name(name.token.text);
    add_definition(name.token.text, {.op = made, .first = first, .count = static_cast<int>(name.count)});
    first += static_cast<int>(name.count);
  }
  int64_t named_count = 0;
  for (const ResultName& name : names) named_count += name.count;
  if (!names.empty() && named_count != result_count) {
    text.fail_at(names[0].token.text,
                 fmt::format("{} has {} results, {} are named", made->name(), result_count, named_count));
  }
}

// Results of the types that are written, tuples among them, that consist of `tensors`.
void OpReader::define_tuples(std::span<const ResultName> names, std::span<const WrittenType> types,
                             const Values& tensors) {
  const auto texts = [](const auto& tensor_types) {
    std::string list;
    for (const TensorType& type : tensor_types) list += (list.empty() ? "" : ", ") + to_string(type);
    return list.empty() ? "nothing" : list;
  };
  std::vector<TensorType> given;
  for (const Value* tensor : tensors) given.push_back(tensor->type);
  if (const std::vector<TensorType> wanted = tensors_of(types); given != wanted && !names.empty()) {
    text.fail_at(names[0].token.text,
                 fmt::format("{} consists of {}, not of {}", names[0].token.text, texts(given), texts(wanted)));
  }
  auto type = types.begin();
  auto tensor = tensors.begin();
  for (const ResultName& name : names) {
    if (name.count > types.end() - type) {
      text.fail_at(name.token.text, fmt::format("there are {} results", types.size()));
    }
    claim(name.token.text);
    std::vector<TupleDefinition>& group = tuples_[name.token.text];
    for (int64_t i = 0; i < name.count; ++i, ++type) {
      const auto end = tensor + std::ssize(tensors_of(*type));
      group.push_back({{tensor, end}, *type});
      tensor = end;
    }
  }
}

// What the element that is asked for consists of.
Values OpReader::element_of_tuple(const OpDraft& draft) {
  const int64_t index = Attrs(draft.attrs, draft.def->name, text.source().location(draft.name.text)).integer("index");
  const bool is_tuple = draft.operand_types.size() == 1 && draft.operand_types[0].is_tuple;
  if (!is_tuple || index < 0 || index >= std::ssize(draft.operand_types[0].elements)) {
    text.fail_at(draft.name.text, fmt::format("there is no element {} of a tuple", index));
  }
  const std::span<const WrittenType> elements = draft.operand_types[0].elements;
  const size_t first = tensors_of(elements.first(index)).size();
  const auto begin = draft.operands.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + std::ssize(tensors_of(elements[index]))};
}

Op* OpReader::make(OpDraft draft, Block& block, Location location) {
  const Location written = text.source().location(draft.name.text);
  std::vector<TensorType> types = draft.declared;
  if (draft.def->infer) {
    std::vector<TensorType> operand_types;
    for (const Value* operand : draft.operands) operand_types.push_back(operand->type);
    types =
        result_types(*draft.def, {draft.def->name, operand_types, draft.attrs, draft.regions, draft.declared, written});
    if (draft.every_type) draft.declared.assign(types.size(), *draft.every_type);
    const bool compare = draft.has_declared || draft.every_type;
    if (compare && types.size() != draft.declared.size()) {
      throw_error(written, fmt::format("{} has {} results, but {} result types are written", draft.def->name,
                                       types.size(), draft.declared.size()));
    }
    for (size_t i = 0; compare && i < types.size(); ++i) {
      if (types[i] == draft.declared[i]) continue;
      throw_error(written, fmt::format("{}: result {} is {}, but the text says {}", draft.def->name, i,
                                       to_string(types[i]), to_string(draft.declared[i])));
    }
  }
  auto op = std::make_unique<Op>();
  op->def = draft.def;
  op->attr_map = std::move(draft.attrs);
  op->regions = std::move(draft.regions);
  for (auto& region : op->regions) region->parent_op = op.get();
  op->location = std::move(location);
  for (Value* operand : draft.operands) op->add_operand(operand);
  for (const TensorType& type : types) add_result(*op, type, op->location);
  op->block = &block;
  Op* raw = op.get();
  raw->self = block.ops.insert(block.ops.end(), std::move(op));
  return raw;
}

const Assembly& OpReader::assembly_of(const OpDef& def) {
  auto [found, is_new] = assemblies_.try_emplace(&def);
  if (is_new) found->second = compile_assembly(def.assembly);
  return found->second;
}

const Assembly& OpReader::named_of(const OpDef& def) {
  auto [found, is_new] = named_.try_emplace(&def);
  if (is_new) found->second = named_attributes(assembly_of(def));
  return found->second;
}

}  // namespace ingot
