// The pretty form of an op, as data: OpDef::assembly is a format string that both the parser and the printer walk.
//
//   `text`            the text itself: a keyword or punctuation
//   operands          all operands (or those not yet named), comma-separated
//   $0                one operand
//   attr-dict         `{...}` with the attributes that the format does not name; nothing when there are none
//   ints(attr)        [1, 2] for an IntsAttr (array<i64>)
//   bools(attr)       [true, false] likewise, of i1
//   int(attr)         1 for an IntAttr of i64
//   bool(attr)        true or false
//   float(attr)       0.1 for a FloatAttr of f64
//   string(attr)      "text"
//   enum(attr, kind)  a bare word for an EnumAttr of that kind
//   symbol(attr)      @name
//   literal(attr)     dense<...> : type
//   types             the operands' types, comma-separated
//   ( `text` ... )?   present when its first attribute is (or operands are, when it has `types` instead)
//   custom(name)      a hand-written pair in assembly_custom.cc: dot_dims, conv_dims, conv_window, slice_ranges,
//                     precision, exponent_mantissa, reduce, while, constant, sharding
//   :same             `: type` when all operands and results have that one type, else as :functional
//   :functional       `: (types) -> types`
//   :arrow            `: types -> types`, as chlo ops are written
//   :result           `: type` of the only result; operands have the same type
//   :operands         `: types` of the operands, comma-separated; results are the same or inferred
//   :select           `: type(predicate), type(result)`, else as :functional
//
// An op without a format, and any op in quotes, has MLIR's generic form:
//   "stablehlo.gather"(%a, %b) <{properties}> ({regions}) {attributes} : (types) -> types
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "aot/graph/attr.h"

namespace ingot {

struct AssemblyItem {
  enum class Kind : uint8_t {
    kText,
    kOperands,
    kOperand,
    kAttrDict,
    kInts,
    kBools,
    kInt,
    kBool,
    kFloat,
    kString,
    kEnum,
    kSymbol,
    kLiteral,
    kTypes,
    kGroup,
    kCustom,
    kOther,  // an attribute that a custom pair reads in a form of its own
    kTypeSame,
    kTypeFunctional,
    kTypeArrow,
    kTypeResult,
    kTypeOperands,
    kTypeSelect,
  };
  Kind kind;
  std::string name = {};       // the text, the attribute's name or the custom pair's
  std::string enum_kind = {};  // kEnum
  std::vector<AssemblyItem> group = {};
};
using Assembly = std::vector<AssemblyItem>;

// Reads a format string; a mistake in it is a bug.
Assembly compile_assembly(std::string_view format);

// The attributes that a format names, with the form in which it reads them: an item of one of the attribute kinds.
Assembly named_attributes(const Assembly& assembly);

// Brings attributes that were written in the generic form into the kinds that the pretty form reads: dense<[0]> and [0]
// become array<i64: 0> where the format says ints, "f" becomes @f where it says symbol. A list that cannot is an error
// at `location`.
void normalize_attributes(const Assembly& named, AttrMap& attrs, const Location& location);

}  // namespace ingot
