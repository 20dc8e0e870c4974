// The pretty form of an op, as data: OpDef::assembly is a format string that both the parser and the printer walk.
//
//   `text`            the text itself: a keyword or punctuation
//   operands          all operands (or those not yet named), comma-separated
//   $0                one operand
//   attr-dict         `{...}` with the attributes that the format does not name; nothing when there are none
//   ints(attr)        [1, 2] for an IntsAttr (array<i64>)
//   bools(attr)       [true, false] likewise, of i1
//   int(attr)         1 for an IntAttr of i64
//   enum(attr, kind)  a bare word for an EnumAttr of that kind
//   symbol(attr)      @name
//   literal(attr)     dense<...>
//   ( ... )?          present when its first attribute is
//   custom(name)      a hand-written pair in assembly_custom.cc: dot_dims, conv_dims, conv_window, slice_ranges, precision,
//                     exponent_mantissa, reduce, constant
//   :same             `: type` when all operands and results have that one type, else as :functional
//   :functional       `: (types) -> types`
//   :result           `: type` of the only result; operands have the same type
//   :operands         `: types` of the operands, comma-separated; results are the same or inferred
//   :select           `: type(predicate), type(result)`, else as :functional
//
// An op without a format, and any op in quotes, has MLIR's generic form:
//   "stablehlo.gather"(%a, %b) <{properties}> ({regions}) {attributes} : (types) -> types
#pragma once

#include <string_view>
