// Reads ops, regions and blocks.
#pragma once

#include <unordered_map>

#include "aot/graph/op.h"
#include "aot/graph/text/assembly.h"
#include "aot/graph/text/text_reader.h"
#include "aot/graph/text/written_type.h"

namespace ingot {

// An op as far as it has been read.
struct OpDraft {
  const OpDef* def = nullptr;
  Token name;  // where messages point
  Values operands;
  std::vector<std::string_view> operand_texts;
  AttrMap attrs;
  std::vector<std::unique_ptr<Block>> regions;
  std::vector<WrittenType> operand_types, result_types;  // as written behind and after `:` and `->`, where they are
  std::vector<TensorType> declared;                      // result types as written, tuples as their elements
  std::optional<TensorType> every_type;                  // written once for all operands and results
  bool has_declared = false;
};

class OpReader {
 public:
  OpReader(TextReader& text, const OpTable& table) : text(text), table_(table) {}

  TextReader& text;
  const OpTable& table() const { return table_; }

  // A use `%x` or `%x#1`: appended to the draft's operands.
  void operand(OpDraft& draft);
  // `%a, %b`, as many as there are, possibly none.
  void operands(OpDraft& draft);

  // `: types` in any of its forms: (types) -> types, types -> types, or one type for all. For :select and :operands the
  // bare list means otherwise; see assembly.h.
  void types(OpDraft& draft, AssemblyItem::Kind directive);

  // `{ ops }` with an optional `^bb0(%a: type):`; `block` may have arguments already. Ends in a terminator.
  void region(Block& block);
  // `(%a: type loc(..), ...)`, appended to the block's arguments.
  void arguments(Block& block);
  // Adds the argument `name` of a type to a block, or what a tuple consists of; known in the scope of the next region.
  Values argument(Block& block, const Token& name, const WrittenType& type);
  // Names a block argument in the scope of the next region.
  void define(Value& value, std::string_view name_token);

  // One op at the end of `block`.
  void op(Block& block);
  // Makes an op of a finished draft, with its types checked.
  Op* make(OpDraft draft, Block& block, Location location);
  const OpDef* find_op(const Token& name) const;  // an error at `name` when unknown

  // Values that are defined inside are unknown outside.
  class Scope {
   public:
    explicit Scope(OpReader& reader) : reader_(reader), mark_(reader.defined_.size()) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    OpReader& reader_;
    size_t mark_;
  };

 private:
  struct Definition {  // the value of a block argument, or a group of an op's results
    Value* argument = nullptr;
    Op* op = nullptr;
    int first = 0;
    int count = 1;
  };
  struct TupleDefinition {  // a result in whose group there is a tuple
    Values tensors;
    WrittenType type;
  };
  struct ResultName {
    Token token;
    int64_t count = 1;
  };

  std::vector<ResultName> result_names();
  void pretty(OpDraft& draft, const Assembly& assembly);
  void generic(OpDraft& draft);
  void group(OpDraft& draft, const Assembly& group);
  bool accept_text(std::string_view words);
  void attr_dict(OpDraft& draft);
  std::vector<WrittenType> type_list();
  int64_t result_number(const Token& name, int64_t count);
  void define_results(const std::vector<ResultName>& names, Op* made);
  void define_tuples(std::span<const ResultName> names, std::span<const WrittenType> types, const Values& tensors);
  Values element_of_tuple(const OpDraft& draft);
  void check_operand_types(const OpDraft& draft, std::span<const TensorType> types);
  void claim(std::string_view name_token);
  void add_definition(std::string_view name_token, Definition definition);
  const Assembly& assembly_of(const OpDef& def);
  const Assembly& named_of(const OpDef& def);

  const OpTable& table_;
  std::unordered_map<std::string_view, Definition> definitions_;
  std::unordered_map<std::string_view, std::vector<TupleDefinition>> tuples_;
  std::vector<std::string_view> defined_;  // in order, for Scope
  std::unordered_map<const OpDef*, Assembly> assemblies_;
  std::unordered_map<const OpDef*, Assembly> named_;
};

}  // namespace ingot
