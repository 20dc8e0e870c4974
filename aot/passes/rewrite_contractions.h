// What passes on products and convolutions share.
#pragma once

#include <functional>
#include <string>

#include "aot/graph/builder.h"

namespace ingot {

// Puts what `rewrite` makes in place of each dot_general and convolution, before which `b` then stands; null: it stays.
// Whether one changed; what nobody reads any more is gone.
bool rewrite_contractions(Module& module, const std::function<Value*(GraphBuilder& b, Op& op)>& rewrite);

// Makes a value that is there at the end of the function a further result of it.
void add_result(const Op& op, Value* value, const std::string& name);

}  // namespace ingot
