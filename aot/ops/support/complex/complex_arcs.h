// Inverse trigonometric and hyperbolic functions of complex values in f64 parts, with the branch cuts of Kahan, "Branch
// Cuts for Complex Elementary Functions", 1987.
#pragma once

#include "aot/ops/support/complex/complex_term.h"

namespace ingot {

ComplexTerm asin(ComplexTerm z);
ComplexTerm acos(ComplexTerm z);
ComplexTerm asinh(ComplexTerm z);
ComplexTerm acosh(ComplexTerm z);
ComplexTerm atan(ComplexTerm z);
ComplexTerm atanh(ComplexTerm z);

}  // namespace ingot
