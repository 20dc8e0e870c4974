// The pretty forms of ops with regions.
//
//   stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (types) -> type
//   stablehlo.reduce(%x init: %a), (%y init: %b) across dimensions = [1] : (types) -> (types)
//     reducer(%p: type, %q: type) (%r: type, %s: type) { ... }
//   stablehlo.while(%i = %a, %j = %b) : types cond { ... } do { ... }
#pragma once

namespace ingot {

class OpReader;
class OpPrinter;
struct OpDraft;
struct Op;

void parse_reduce(OpReader& reader, OpDraft& draft);
void print_reduce(OpPrinter& printer, const Op& op);
bool can_print_reduce(const Op& op);

void parse_while(OpReader& reader, OpDraft& draft);
void print_while(OpPrinter& printer, const Op& op);
bool can_print_while(const Op& op);

}  // namespace ingot
