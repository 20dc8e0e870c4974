// Elements of ops that only move them: OpDef::element, from OpDef::access.
#pragma once

#include "aot/graph/access_map.h"
#include "aot/loops/element.h"

namespace ingot::ops {

// The wanted element: of the last piece that has it. `map` is the op's, and not flat.
loops::Expr moved_element(loops::ElementArgs& args, const AccessMap& map);

}  // namespace ingot::ops
