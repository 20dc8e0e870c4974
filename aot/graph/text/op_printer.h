// Writes ops, regions and blocks.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "aot/graph/op.h"
#include "aot/graph/text/assembly.h"
#include "aot/graph/text/print.h"
#include "aot/graph/text/print_attr.h"

namespace ingot {

// The printed names of a function's values, unique within it.
class ValueNames {
 public:
  explicit ValueNames(const Block& body);
  // "%x", or "%x#1" for one of a group of results that share a name.
  const std::string& of(const Value* value) const;

 private:
  void reserve(const Block& block);
  void name(const Block& block);
  void name_arguments(const Block& block, const Block* first);
  std::string unique(const std::string& wanted);
  std::string next_free(const std::string& stem, int& number);

  std::unordered_map<const Value*, std::string> names_;
  std::unordered_set<std::string> given_;
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, int> suffixes_;
  int next_number_ = 0;
  int next_argument_ = 0;
};

class OpPrinter {
 public:
  OpPrinter(const ValueNames& names, const PrintOptions& options, LocationPrinter* locations)
      : names_(names), options_(options), locations_(locations) {}

  std::string out;

  void op(const Op& op);
  void value(const Value* value) { out += names_.of(value); }
  void values(const Values& values);
  void types(const Values& values);
  void functional_type(const Op& op);  // (types) -> types
  void arguments(const Block& block);  // %a: type, %b: type
  void argument(const Value& value);   // %a: type
  // `{`, the ops, each on a line, and `}`.
  void region(const Block& block, bool with_arguments);
  void attr_dict(const Op& op);  // what the format does not name, after a space; nothing when there is none
  void location(const Location& location);
  void space();   // unless there is one already or a '(' is open
  void line();    // a new one, indented
  int depth = 0;  // of nesting

 private:
  bool is_present(const Op& op, const Assembly& group) const;
  void item(const Op& op, const AssemblyItem& item, size_t& next_operand);
  void type_directive(const Op& op, AssemblyItem::Kind kind);
  void generic(const Op& op);
  struct Form {
    Assembly assembly;
    Assembly named;
  };
  const Form& form_of(const OpDef& def);

  const ValueNames& names_;
  const PrintOptions& options_;
  LocationPrinter* locations_;  // null: written out in place
  std::unordered_map<const OpDef*, Form> forms_;
};

}  // namespace ingot
