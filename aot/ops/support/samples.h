// Texts for the samples columns.
#pragma once

#include <string>

#include "aot/graph/op.h"

namespace ingot::ops {

// "func.func @main(ARGUMENTS) -> RESULT { %0 = OP return %0 : RESULT }"
inline std::string single_op(const std::string& arguments, const std::string& op, const std::string& result) {
  return "func.func @main(" + arguments + ") -> " + result + " {\n  %0 = " + op + "\n  return %0 : " + result + "\n}\n";
}

// The region (a, b) -> stablehlo.OP(a, b) of scalars of element type `dtype`, in the generic form.
inline std::string scalar_region(const std::string& op, const std::string& dtype) {
  const std::string type = "tensor<" + dtype + ">";
  return "({\n  ^bb0(%a: " + type + ", %b: " + type + "):\n    %r = stablehlo." + op + " %a, %b : " + type +
         "\n    stablehlo.return %r : " + type + "\n  })";
}

// The region (a, b) -> b.
inline std::string second_region(const std::string& dtype) {
  const std::string type = "tensor<" + dtype + ">";
  return "({\n  ^bb0(%a: " + type + ", %b: " + type + "):\n    stablehlo.return %b : " + type + "\n  })";
}

}  // namespace ingot::ops
