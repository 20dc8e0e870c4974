// Whether two graphs say the same.
#pragma once

#include <string>

#include "aot/graph/graph.h"

namespace ingot {

// True when both have the same functions in the same order, with the same ops, types, attributes and wiring. Names of
// values do not count, nor do locations. When false, `difference` (if given) says where: "@main: stablehlo.add: ...".
bool equal(const Module& a, const Module& b, std::string* difference = nullptr);

// Bit for bit: a NaN equals itself. A missing list in the dictionary of a tag (#stablehlo.dot<...>) is an empty one.
bool equal_attrs(const Attr& a, const Attr& b);

}  // namespace ingot
