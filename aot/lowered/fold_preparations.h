// What is prepared from constants is prepared by the compiler.
#pragma once

#include <functional>

#include "aot/lowered/lowered.h"

namespace ingot::lowered {

// Interprets hoistable calls that read constants only, and whole nodes of such calls that are `worth` the place of their
// results, and puts what they write as constants in their place. Constants that nobody reads any more are dropped.
// Time: some 50 ns for each element that is written, more where it is computed.
void fold_preparations(Function& function, const std::function<bool(const Node& node)>& worth);

}  // namespace ingot::lowered
