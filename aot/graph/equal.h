// Whether two graphs, or two ops of one, say the same.
#pragma once

#include <string>

#include "aot/graph/graph.h"

namespace ingot {

// True when both have the same functions in the same order, with the same ops, types, attributes and wiring. Names of
// values do not count, nor do locations. When false, `difference` (if given) says where: "@main: stablehlo.add: ...".
bool equal(const Module& a, const Module& b, std::string* difference = nullptr);

// True when both compute the same: the same op, types, attributes and regions, of the same operands.
bool equal(const Op& a, const Op& b);

// The same of operands of the same types, whichever they are.
bool alike(const Op& a, const Op& b);

// Bit for bit: a NaN equals itself. A missing list in the dictionary of a tag (#stablehlo.dot<...>) is an empty one.
bool equal_attrs(const Attr& a, const Attr& b);

}  // namespace ingot
